// warpsmith: size n=1024 m=1024 d=64
// expect: stage p at k, stage q at k, register_tile i
void pairwise_distance(int n, int m, int d, const float p[n][d], const float q[m][d], float out[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0.0f;
            for (int k = 0; k < d; k++) {
                float diff = p[i][k] - q[j][k];
                sum += diff * diff;
            }
            out[i][j] = sum;
        }
}
