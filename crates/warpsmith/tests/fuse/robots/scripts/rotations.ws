// rotate a vector through a chain
quat q, p; vec3 v, w;
input q, p, v;
w = qrot(q, v);
w = qrot(p, w);
w = qrot(q, w);
return w;
