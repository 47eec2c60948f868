mat20 A, B, C; vec20 r;
input A, B;
C = mul20(A, B);
C = mul20(C, A);
r = rows20(C);
return C, r;
