// warpsmith: size n=16384 m=16384
// expect: keep_sums i
// Both products in the two loops that PolyBench has.
void bicg(int n, int m, const float A[n][m], float s[m], float q[n], const float p[m], const float r[n])
{
    #pragma omp parallel for
    for (int i = 0; i < m; i++)
        s[i] = 0;
    #pragma omp parallel for reduction(+: s[:m])
    for (int i = 0; i < n; i++) {
        q[i] = 0.0f;
        for (int j = 0; j < m; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
}
