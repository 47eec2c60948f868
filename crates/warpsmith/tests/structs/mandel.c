#include <complex.h>
void f(int n, int m, int it[n][m])
{
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float complex c = (-2.0f + 3.0f * j / m) + (-1.0f + 2.0f * i / n) * I;
            float complex z = 0;
            int k = 0;
            while (k < 50 && crealf(z) * crealf(z) + cimagf(z) * cimagf(z) < 4.0f) {
                z = z * z + c;
                k++;
            }
            it[i][j] = k;
        }
}
