// same-as: references.c:histogram
// Bins for each warp of a block in shared memory, added up at its end.
__global__ void bins_of_warps(int n, const unsigned char *data, int *bins) {
    __shared__ int own[2][256];
    for (int b = threadIdx.x; b < 512; b += 64) own[b / 256][b % 256] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) atomicAdd(&own[threadIdx.x / 32][data[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 64) {
        int all = own[0][b] + own[1][b];
        if (all > 0) atomicAdd(&bins[b], all);
    }
}
void histogram(int n, const unsigned char *data, int *bins) { bins_of_warps<<<4, 64>>>(n, data, bins); }
// fault: own[0][b] + own[1][b] => 2 * own[0][b]
// fault: b < 512; b => b < 511; b
// fault: atomicAdd(&bins[b], all) => bins[b] += all
// fault: i += gridDim.x * 64 => i += gridDim.x * 63
// fault:     __syncthreads();\n    for (int b = threadIdx.x; b < 256 =>     for (int b = threadIdx.x; b < 256
// fault: all > 0 => all > 1
// fault: b < 256; b += 64 => b < 255; b += 64
// right: all > 0 => all != 0
