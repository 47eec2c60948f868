scalar s, t, u;
vector3 v;
input v;
s = venorm3(v);
v = svmul3(v, s);
t = venorm3(v);
v = svmul3(v, t);
u = vvmulabs3(v, v);
return u;
