// M = |(S dPhi) . dPsi| w I + w (R dPsi)
tensor3x3x3 R;
vector3 dPsi, dPhi, h;
matrix3x3 S, a, unit, scaled, b, M;
scalar w, s;
input R, dPsi, dPhi, S, w;
a = ttmul311(R, dPsi);
h = mvmul33(S, dPhi);
s = vvmulabs3(h, dPsi);
unit = smimul33(w);
scaled = smmul33(unit, s);
b = smmul33(a, w);
M = madd33(scaled, b);
return M;
