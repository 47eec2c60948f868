scalar a;
vector3 x, y, z;
input a, x, y;
z = axpy3(a, x, y);
z = axpy3(a, z, x);
z = axpy3(a, z, z);
return z;
