matrix3x3 A, B, C, D;
input A, B;
C = mtrans33(A);
D = mmul33(C, B);
C = mtrans33(D);
return C, D;
