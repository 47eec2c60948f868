mat8 A, B, C;
input A, B;
C = mul8(A, B);
C = tr8(C);
B = tr8(A);
return C, B;
