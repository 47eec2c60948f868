// Helpers with pointers, a value that is used often, an output that is read again.
vector3 a, b, c, d;
scalar s;
matrix3x3 M;
input a, b, M;
c = vcross3(a, b);
d = vcross3(c, a);
b = mvmul33(M, c);
s = vvmulabs3(b, d);
d = svmul3(d, s);
a = vcross3(d, d);
return c, d, a;
