soa mat4 A; mat4 B; soa vec7 x, y; real a; soa real n; 
input A, x, a;
B = mul4(A, A);
B = act16(B);
y = axpby7(a, x, a, x);
n = norm7(y);
y = axpby7(n, y, a, x);
return B, y;
