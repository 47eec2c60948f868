// warpsmith: size n=8192 m=4096
// expect: bind i, register_tile j, stage in pad 1
void transpose(int n, int m, const float in[n][m], float out[m][n])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[j][i] = in[i][j];
}
