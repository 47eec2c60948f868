quaternion p, q, r;
input p, q;
r = qmul(p, q);
r = qmul(r, r);
q = qmul(q, r);
return q, r;
