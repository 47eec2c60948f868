matrix3x3 A, I, P;
vector3 v, w;
input A, v;
I = minv33(A);
P = mmul33(I, A);
w = mvmul33(P, v);
return w, I;
