// same-as: references.c:lower_solve
// Two launches for each unknown: the unknown itself, then what it takes from the others.
__global__ void divide(int n, int k, const double *l, double *b) {
    b[k] = b[k] / (4.0 + l[k * n + k] * l[k * n + k]);
}
__global__ void take(int n, int k, const double *l, double *b) {
    int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] -= l[i * n + k] * b[k];
}
void solve(int n, const double *l, double *b) {
    for (int k = 0; k < n; ++k) {
        divide<<<1, 1>>>(n, k, l, b);
        int rest = n - k - 1;
        if (rest == 0) break;
        take<<<(rest + 31) / 32, 32>>>(n, k, l, b);
    }
}
// fault: int rest = n - k - 1; => int rest = n - k - 2;
// fault: (rest + 31) / 32 => (rest + 30) / 32
// fault: i = k + 1 + => i = k +
// fault: rest == 0 => rest <= 1
// fault: b[i] -= => b[i] +=
// fault: divide<<<1, 1>>>(n, k, l, b); => divide<<<1, 1>>>(n, k, l, b);\n        if (k == 40) continue;
// right: for (int k = 0; k < n; ++k) { => int k = -1;\n    while (++k < n) {
