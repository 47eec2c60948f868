// v = w H dPhi; R = (T v) F'
tensor3x3x3x3 T;
matrix3x3 F, H;
vector3 dPhi, y, v;
scalar w;
tensor3x3x3 P, R;
input T, F, dPhi, H, w;
y = mvmul33(H, dPhi);
v = svmul3(y, w);
P = ttmul411(T, v);
R = ttmul3212(P, F);
return R, v;
