real a, b, n; vec7 x, y, z;
input a, b, x, y;
z = axpby7(a, x, b, y);
z = axpby7(a, z, a, z);
n = norm7(z);
x = axpby7(n, x, n, z);
return x, n;
