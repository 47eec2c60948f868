// warpsmith: size n=384
// expect: bind i, specialise n%4=0, register_tile i, register_tile k, vectorise k by 4
void wave_eighth_order(int n, float c, const float prev[n][n][n], const float cur[n][n][n], float next[n][n][n])
{
    #pragma omp parallel for collapse(3)
    for (int i = 4; i < n - 4; i++)
        for (int j = 4; j < n - 4; j++)
            for (int k = 4; k < n - 4; k++) {
                float around = -8.541666f * cur[i][j][k];
                around += 1.6f * (cur[i-1][j][k] + cur[i+1][j][k] + cur[i][j-1][k] + cur[i][j+1][k] + cur[i][j][k-1] + cur[i][j][k+1]);
                around += -0.2f * (cur[i-2][j][k] + cur[i+2][j][k] + cur[i][j-2][k] + cur[i][j+2][k] + cur[i][j][k-2] + cur[i][j][k+2]);
                around += 0.025f * (cur[i-3][j][k] + cur[i+3][j][k] + cur[i][j-3][k] + cur[i][j+3][k] + cur[i][j][k-3] + cur[i][j][k+3]);
                around += -0.0018f * (cur[i-4][j][k] + cur[i+4][j][k] + cur[i][j-4][k] + cur[i][j+4][k] + cur[i][j][k-4] + cur[i][j][k+4]);
                next[i][j][k] = 2.0f * cur[i][j][k] - prev[i][j][k] + c * around;
            }
}
