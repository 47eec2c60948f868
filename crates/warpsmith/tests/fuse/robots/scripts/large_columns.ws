soa mat20 A; mat20 B; soa mat20 C; vec20 r;
input A, B;
C = mul20(A, B);
r = rows20(A);
return C, r;
