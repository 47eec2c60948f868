sym3 S; vec3 v, u; quat q;
input S, v, q;
for (i = 0; i < 3; i++) {
  v = symv(S, v);
  for (j = 0; j < 2; j++) { v = qrot(q, v); }
}
u = symv(S, v);
return u, v;
