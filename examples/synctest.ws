// Four additions in a row: A + A, and then A to what came out.
matrix3x3 A, B;

input A;

B = madd33(A, A);
for (i = 0; i < 3; i++) {
    B = madd33(A, B);
}

return B;
