mat4 A, B, C, D;
input A, B;
C = mul4(A, B);
D = mul4(C, C);
C = act16(D);
return C, D;
