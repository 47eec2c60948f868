// F = |A B c| D E
matrix3x3 A, B, P;
vector3 c, y;
scalar norm;
matrix5x5 D, E, Q, F;
input A, B, c, D, E;
P = mmul33(A, B);
y = mvmul33(P, c);
norm = venorm3(y);
Q = mmul55(D, E);
F = smmul55(Q, norm);
return F;
