matrix3x3 A, B, C;
input A, B;
for (i = 0; i < 25; i++) {
    C = madd33(A, B);
    A = madd33(B, B);
    B = madd33(C, A);
}
return A, B;
