matrix3x3 A, B;
vector3 v;
scalar s;
input A, v;
for (i = 0; i < 30; i++) {
    v = mvmul33(A, v);
    for (j = 0; j < 2; j++) {
        s = venorm3(v);
    }
    v = svmul3(v, s);
}
B = smimul33(s);
return v, B;
