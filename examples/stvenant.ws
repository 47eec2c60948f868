// A step of the St. Venant-Kirchhoff model: v = w (H dPhi), R = (T4 v) F.
tensor3x3x3x3 T4;
tensor3x3x3 R3, R;
matrix3x3 F, H;
vector3 dPhi, Hd, v;
scalar w;

input T4, F, dPhi, H, w;

Hd = mvmul33(H, dPhi);
v = svmul3(Hd, w);
R3 = ttmul411(T4, v);
R = ttmul3212(R3, F);

return R, v;
