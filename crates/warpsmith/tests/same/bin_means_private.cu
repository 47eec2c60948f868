// same-as: references.cu:bin_means
// Bins of a block in shared memory.
__global__ void bin_means_private(int n, const int *key, const int *value, int *sums, int *counts) {
    __shared__ int s[32], c[32];
    if (threadIdx.x < 32) s[threadIdx.x] = c[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        int b = key[i] % 32;
        if (b < 0) b += 32;
        atomicAdd(&s[b], value[i]);
        atomicAdd(&c[b], 1);
    }
    __syncthreads();
    if (threadIdx.x < 32 && c[threadIdx.x] > 0) {
        atomicAdd(&sums[threadIdx.x], s[threadIdx.x]);
        atomicAdd(&counts[threadIdx.x], c[threadIdx.x]);
    }
}
void bin_means(int n, const int *key, const int *value, int *sums, int *counts) {
    bin_means_private<<<2, 96>>>(n, key, value, sums, counts);
}
// right: <<<2, 96>>> => <<<5, 64>>>
// right: && c[threadIdx.x] > 0 =>
// fault: if (b < 0) b += 32; => if (b < 0) b = -b;
// fault: if (b < 0) b += 32; =>
// fault: && c[threadIdx.x] > 0 => && s[threadIdx.x] > 0
// fault: && c[threadIdx.x] > 0 => && c[threadIdx.x] > 1
// fault: threadIdx.x < 32) s => threadIdx.x < 31) s
// fault: <<<2, 96>>> => <<<2, 24>>>
// fault: atomicAdd(&c[b], 1) => c[b]++
// fault: __syncthreads();\n    for => for
// fault: __syncthreads();\n    if => if
// fault: key[i] % 32 => key[i] % 31
// fault: atomicAdd(&sums[threadIdx.x], => sums[threadIdx.x] = (
