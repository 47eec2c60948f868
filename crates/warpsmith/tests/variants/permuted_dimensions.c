// warpsmith: size a=64 b=128 c=128 d=64
// expect: bind j, register_tile l, stage in pad 1
void permuted(int a, int b, int c, int d, const float in[a][b][c][d], float out[a][c][d][b])
{
    #pragma omp parallel for collapse(4)
    for (int i = 0; i < a; i++)
        for (int j = 0; j < b; j++)
            for (int k = 0; k < c; k++)
                for (int l = 0; l < d; l++)
                    out[i][k][l][j] = in[i][j][k][l];
}
