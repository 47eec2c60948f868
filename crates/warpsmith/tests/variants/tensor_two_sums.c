// warpsmith: size a=64 b=64 c=64 d=32 e=48
// expect: bind i, stage X at q, stage Y at q
void tensor_two_sums(int a, int b, int c, int d, int e, const float X[a][d][e], const float Y[e][b][d][c], float Z[a][b][c])
{
    #pragma omp parallel for collapse(3)
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            for (int k = 0; k < c; k++) {
                float s = 0.0f;
                for (int p = 0; p < d; p++)
                    for (int q = 0; q < e; q++)
                        s += X[i][p][q] * Y[q][j][p][k];
                Z[i][j][k] = s;
            }
}
