/* Livermore kernel 8: ADI integration */
typedef double Real_t;
#define U(a, l, ky, kx) a[((l) * (n + 1) + (ky)) * 5 + (kx)]

void adi(int n, Real_t *u1, Real_t *u2, Real_t *u3, Real_t *du1, Real_t *du2, Real_t *du3, const Real_t *A, Real_t sig)
{
    int nl1 = 0, nl2 = 1;
    for (int kx = 1; kx < 3; kx++) {
#pragma omp parallel for
        for (int ky = 1; ky < n; ky++) {
            du1[ky] = U(u1, nl1, ky + 1, kx) - U(u1, nl1, ky - 1, kx);
            du2[ky] = U(u2, nl1, ky + 1, kx) - U(u2, nl1, ky - 1, kx);
            du3[ky] = U(u3, nl1, ky + 1, kx) - U(u3, nl1, ky - 1, kx);
            U(u1, nl2, ky, kx) = U(u1, nl1, ky, kx) + A[0] * du1[ky] + A[1] * du2[ky] + A[2] * du3[ky] +
                sig * (U(u1, nl1, ky, kx + 1) - 2.0 * U(u1, nl1, ky, kx) + U(u1, nl1, ky, kx - 1));
            U(u2, nl2, ky, kx) = U(u2, nl1, ky, kx) + A[3] * du1[ky] + A[4] * du2[ky] + A[5] * du3[ky] +
                sig * (U(u2, nl1, ky, kx + 1) - 2.0 * U(u2, nl1, ky, kx) + U(u2, nl1, ky, kx - 1));
            U(u3, nl2, ky, kx) = U(u3, nl1, ky, kx) + A[6] * du1[ky] + A[7] * du2[ky] + A[8] * du3[ky] +
                sig * (U(u3, nl1, ky, kx + 1) - 2.0 * U(u3, nl1, ky, kx) + U(u3, nl1, ky, kx - 1));
        }
    }
}
