// warpsmith: size a=64 b=64 c=32 d=32
// expect: bind i
void tensor_contraction(int a, int b, int c, int d, const float S[a][c][d], const float T[d][b], float R[a][c][b])
{
    #pragma omp parallel for collapse(3)
    for (int i = 0; i < a; i++)
        for (int k = 0; k < c; k++)
            for (int j = 0; j < b; j++) {
                float sum = 0.0f;
                for (int e = 0; e < d; e++)
                    sum += S[i][k][e] * T[e][j];
                R[i][k][j] = sum;
            }
}
