mat2 M, N; vec2 v, u;
input M, v;
N = inv2(M);
u = mv2(N, v);
u = mv2(M, u);
for (i = 0; i < 11; i++) { u = mv2(N, u); v = mv2(M, u); }
return u, v;
