// same-as: references.c:shortest
// A launch for each vertex that paths may go through; a block a row, whose own distance is read once.
__global__ void through(int n, int k, int *d) {
    int i = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    __shared__ int own;
    if (threadIdx.x == 0) own = d[i * n + k];
    __syncthreads();
    if (j < n && i != k && j != k) {
        int other = own + d[k * n + j];
        if (other < d[i * n + j]) d[i * n + j] = other;
    }
}
void paths(int n, int *d) {
    dim3 grid((n + 31) / 32, n);
    for (int k = 0; k < n; k++) through<<<grid, 32>>>(n, k, d);
}
// fault: for (int k = 0; k < n; k++) => for (int k = 1; k < n; k++)
// fault: for (int k = 0; k < n; k++) => for (int k = n - 1; k >= 0; k -= 2)
// fault: other < d[i * n + j] => other <= d[i * n + j] - 1 - (k == 2)
// fault: dim3 grid((n + 31) / 32, n); => dim3 grid((n + 30) / 32, n);
// fault: i != k && => i != k + 1 &&
// fault: (n, k, d); => (n, 0, d);
// fault:     __syncthreads();\n =>
