/* one red and one black half-sweep of SOR */
void redblack(double *a, const double *b, int n, int m, double omega)
{
    for (int colour = 0; colour < 2; colour++) {
#pragma omp parallel for
        for (int i = 1; i < n - 1; i++) {
            for (int j = 1 + (i + colour) % 2; j < m - 1; j += 2) {
                double r = a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1] -
                           4.0 * a[i * m + j] - b[i * m + j];
                a[i * m + j] += 0.25 * omega * r;
            }
        }
    }
}
