// warpsmith: size n=1024 m=1024
// expect: bind y, x
void lattice_boltzmann(int n, int m, float omega, const float f[9][n][m], float g[9][n][m])
{
    static const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    static const int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    static const float w[9] = {4.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 9, 1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};
    #pragma omp parallel for collapse(2)
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < m - 1; x++) {
            float rho = 0.0f, ux = 0.0f, uy = 0.0f;
            for (int q = 0; q < 9; q++) {
                float v = f[q][y - ey[q]][x - ex[q]];
                rho += v;
                ux += v * ex[q];
                uy += v * ey[q];
            }
            ux /= rho;
            uy /= rho;
            float uu = 1.5f * (ux * ux + uy * uy);
            for (int q = 0; q < 9; q++) {
                float eu = 3.0f * (ex[q] * ux + ey[q] * uy);
                float eq = w[q] * rho * (1.0f + eu + 0.5f * eu * eu - uu);
                float v = f[q][y - ey[q]][x - ex[q]];
                g[q][y][x] = v + omega * (eq - v);
            }
        }
}
