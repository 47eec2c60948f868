#define Q 9
typedef struct cell { double f[Q]; int solid; } cell_t;
static const double w[Q] = {4.0/9, 1.0/9, 1.0/9, 1.0/9, 1.0/9, 1.0/36, 1.0/36, 1.0/36, 1.0/36};
static const int cx[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int cy[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
void f(int n, int m, double omega, cell_t g[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            if (g[i][j].solid > 50) continue;
            double rho = 0, ux = 0, uy = 0;
            for (int q = 0; q < Q; q++) {
                rho += g[i][j].f[q];
                ux += cx[q] * g[i][j].f[q];
                uy += cy[q] * g[i][j].f[q];
            }
            for (int q = 0; q < Q; q++) {
                double cu = cx[q] * ux + cy[q] * uy;
                double feq = w[q] * (rho + 3.0 * cu);
                g[i][j].f[q] += omega * (feq - g[i][j].f[q]);
            }
        }
}
