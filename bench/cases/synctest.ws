// Four additions, each of A and the last result.
matrix3x3 A, R;
input A;
R = madd33(A, A);
R = madd33(A, R);
R = madd33(A, R);
R = madd33(A, R);
return R;
