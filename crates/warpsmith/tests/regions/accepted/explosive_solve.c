// warpsmith: size n=1000
// With a random matrix the results explode with the size: what rounding errors make of them is no fault of the kernel.
// says: random data are ill-conditioned at n=512: compared with large diagonals and small other elements instead
void solve(int n, const float L[n][n], float x[n]) {
    for (int i = 0; i < n; i++) {
        float sum = x[i];
#pragma omp parallel for reduction(- : sum)
        for (int j = 0; j < i; j++) sum -= L[i][j] * x[j];
        x[i] = sum / L[i][i];
    }
}
