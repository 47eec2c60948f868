// same-as: references.c:sum_to
// Partial sums are summed again until one is left.
__global__ void fold(int n, const float *x, float *sums) {
    __shared__ float part[128];
    int i = blockIdx.x * 256 + threadIdx.x;
    float own = i < n ? x[i] : 0;
    if (i + 128 < n) own += x[i + 128];
    part[threadIdx.x] = own;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
void total(int n, const float *x, float *out) {
    float *a, *b;
    int blocks = (n + 255) / 256;
    cudaMalloc(&a, blocks * sizeof(float));
    cudaMalloc(&b, blocks * sizeof(float));
    fold<<<blocks, 128>>>(n, x, a);
    while (blocks > 1) {
        int more = (blocks + 255) / 256;
        fold<<<more, 128>>>(blocks, a, b);
        float *held = a;
        a = b;
        b = held;
        blocks = more;
    }
    cudaMemcpy(out, a, sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(a);
    cudaFree(b);
}
// fault: i + 128 < n => i + 128 < n - 1
// fault: int s = 64; => int s = 32;
// fault: (n + 255) / 256; => (n + 127) / 256;
// fault: cudaMemcpy(out, a, sizeof(float) => cudaMemcpy(out, b, sizeof(float)
// fault: fold<<<more, 128>>>(blocks, a, b) => fold<<<more, 128>>>(more, a, b)
// fault: while (blocks > 1) => while (blocks > 2)
// fault:         __syncthreads();\n    }\n =>     }\n
// fault: sums[blockIdx.x] = part[0] => sums[blockIdx.x] = part[1]
// right: while (blocks > 1) { => for (; blocks > 1;) {
// right: int s = 64; s > 0; s /= 2 => int s = 64; s >= 1; s >>= 1
