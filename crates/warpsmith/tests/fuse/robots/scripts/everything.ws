vec3 u; quat q; sym3 S; mat4 A; vec7 x; real n, m; vec4 v; mat2 M; vec2 d;
input u, q, S, A, x, v, M, d;
u = qrot(q, u); u = symv(S, u); A = mul4(A, A); n = norm7(x); m = pick7(x, n); x = axpby7(n, x, m, x); v = sort4(v); M = inv2(M); d = mv2(M, d);
return u, A, x, v, d, m;
