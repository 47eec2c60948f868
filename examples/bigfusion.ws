// The norm of A B c times D E: the first three calls share nothing with the last but a scalar.
matrix3x3 A, B, AB;
vector3 c, v;
scalar s;
matrix5x5 D, E, DE, F;

input A, B, c, D, E;

AB = mmul33(A, B);
v = mvmul33(AB, c);
s = venorm3(v);
DE = mmul55(D, E);
F = smmul55(DE, s);

return F;
