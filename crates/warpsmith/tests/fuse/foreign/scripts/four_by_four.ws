matrix4x4 A, B, C;
scalar t;
input A, B;
C = mmul44(A, B);
C = mmul44(C, A);
t = mtrace44(C);
return t, C;
