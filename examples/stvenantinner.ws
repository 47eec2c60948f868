// The inner product of the same model: s (w I) + w a with a = R dPsi, h = S dPhi, s = |h dPsi|.
tensor3x3x3 R;
vector3 dPsi, dPhi, h;
matrix3x3 S, a, wI, swI, wa, result;
scalar w, s;

input R, dPsi, dPhi, S, w;

a = ttmul311(R, dPsi);
h = mvmul33(S, dPhi);
s = vvmulabs3(h, dPsi);
wI = smimul33(w);
swI = smmul33(wI, s);
wa = smmul33(a, w);
result = madd33(swI, wa);

return result;
