vec4 a, b, c;
input a;
b = sort4(a);
c = sort4(b);
return b, c;
