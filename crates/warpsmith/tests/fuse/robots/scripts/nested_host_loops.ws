mat4 A, B, C, D, E, F;
input A, B;
for (i = 0; i < 3; i++) {
   C = mul4(A, B);
   for (j = 0; j < 9; j++) { A = act16(A); B = mul4(B, A); }
   A = act16(C);
}
D = mul4(A, A);
E = act16(D);
F = mul4(D, E);
return A, B, F, E;
