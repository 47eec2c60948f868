// Jacobi iterations: a serial loop in time around two parallel sweeps, there and back.
// warpsmith: size n=1024 m=1024 steps=10

void jacobi_time(int n, int m, int steps, float u[n][m], float v[n][m])
{
    for (int t = 0; t < steps; t++) {
        #pragma omp parallel for collapse(2)
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
            }
        }

        #pragma omp parallel for collapse(2)
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1; j < m - 1; j++) {
                u[i][j] = 0.25f * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]);
            }
        }
    }
}
