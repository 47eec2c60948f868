// One sweep of the Himeno benchmark from p to next: a 19-point Jacobi iteration for the pressure of an
// incompressible flow. It touches 14 arrays once each; the squared residual is summed and returned.
// warpsmith: size imax=64 jmax=64 kmax=128

float himeno(int imax, int jmax, int kmax, float omega,
             const float a0[imax][jmax][kmax], const float a1[imax][jmax][kmax],
             const float a2[imax][jmax][kmax], const float a3[imax][jmax][kmax],
             const float b0[imax][jmax][kmax], const float b1[imax][jmax][kmax],
             const float b2[imax][jmax][kmax],
             const float c0[imax][jmax][kmax], const float c1[imax][jmax][kmax],
             const float c2[imax][jmax][kmax],
             const float wrk1[imax][jmax][kmax], const float bnd[imax][jmax][kmax],
             const float p[imax][jmax][kmax], float next[imax][jmax][kmax])
{
    float gosa = 0.0f;

    #pragma omp parallel for collapse(3) reduction(+: gosa)
    for (int i = 1; i < imax - 1; i++) {
        for (int j = 1; j < jmax - 1; j++) {
            for (int k = 1; k < kmax - 1; k++) {
                float s0 = a0[i][j][k] * p[i + 1][j][k]
                    + a1[i][j][k] * p[i][j + 1][k]
                    + a2[i][j][k] * p[i][j][k + 1]
                    + b0[i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k]
                                     - p[i - 1][j + 1][k] + p[i - 1][j - 1][k])
                    + b1[i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1]
                                     - p[i][j + 1][k - 1] + p[i][j - 1][k - 1])
                    + b2[i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1]
                                     - p[i + 1][j][k - 1] + p[i - 1][j][k - 1])
                    + c0[i][j][k] * p[i - 1][j][k]
                    + c1[i][j][k] * p[i][j - 1][k]
                    + c2[i][j][k] * p[i][j][k - 1]
                    + wrk1[i][j][k];
                float ss = (s0 * a3[i][j][k] - p[i][j][k]) * bnd[i][j][k];
                gosa += ss * ss;
                next[i][j][k] = p[i][j][k] + omega * ss;
            }
        }
    }
    return gosa;
}
