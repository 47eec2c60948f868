// same-as: references.c:scan_line
// Blocks scan, their sums are scanned by the same function, and added.
__global__ void scan_blocks(int n, const int *x, int *y, int *sums) {
    __shared__ int part[2][64];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x, from = 0;
    part[0][t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        part[1 - from][t] = part[from][t] + (t >= d ? part[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (i < n) y[i] = t > 0 ? part[from][t - 1] : 0;
    if (t == 63) sums[blockIdx.x] = part[from][63];
}
__global__ void add(int n, const int *before, int *y) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] += before[blockIdx.x];
}
void scan_all(int n, const int *x, int *y) {
    if (n <= 0) return;
    int blocks = (n + 63) / 64, *sums, *before;
    cudaMalloc(&sums, blocks * sizeof(int));
    cudaMalloc(&before, blocks * sizeof(int));
    scan_blocks<<<blocks, 64>>>(n, x, y, sums);
    if (blocks > 1) {
        scan_all(blocks, sums, before);
        add<<<blocks, 64>>>(n, before, y);
    }
    cudaFree(sums);
    cudaFree(before);
}
// fault: if (blocks > 1) { => if (blocks > 2) {
// fault: scan_all(blocks, sums, before) => scan_all(blocks - 1, sums, before)
// fault: add<<<blocks, 64>>>(n, before, y) => add<<<blocks, 64>>>(n, sums, y)
// fault: add<<<blocks, 64>>> => add<<<blocks - 1, 64>>>
// fault: d < 64; d *= 2 => d < 32; d *= 2
// fault: t > 0 ? part[from][t - 1] : 0 => part[from][t]
// fault: blocks * sizeof(int));\n    cudaMalloc(&before => blocks);\n    cudaMalloc(&before
// fault: t >= d => t > d
// right: t > 0 ? part[from][t - 1] : 0 => t == 0 ? 0 : part[from][t - 1]
