vec7 x, y; real w, r, s;
input x, y, w;
r = pick7(x, w);
s = pick7(y, r);
x = axpby7(r, x, s, y);
return x, s;
