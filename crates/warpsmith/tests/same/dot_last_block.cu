// same-as: references.c:dot
// The last block that is done adds the parts of all.
__device__ unsigned finished = 0;
__device__ double parts[64];
__global__ void dot_last_block(int n, const double *x, const double *y, double *result) {
    __shared__ double part[64];
    __shared__ bool last;
    double sum = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) sum += x[i] * y[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = part[0];
        __threadfence();
        last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        double all = 0;
        for (int b = 0; b < gridDim.x; b++) all += parts[b];
        *result = all;
        finished = 0;
    }
}
void dot(int n, const double *x, const double *y, double *result) { dot_last_block<<<5, 64>>>(n, x, y, result); }
// fault: gridDim.x - 1; => gridDim.x - 2;
// fault: parts[blockIdx.x] = part[0];\n        __threadfence(); => parts[blockIdx.x] = part[0];
// fault: int s = 32; => int s = 16;
// fault: b < gridDim.x; b++ => b + 1 < gridDim.x; b++
// fault: sum += x[i] * y[i] => sum += x[i] * y[i] + (i == 70)
// fault:         __syncthreads();\n    }\n    if (threadIdx.x == 0) { =>     }\n    if (threadIdx.x == 0) {
// right: b < gridDim.x; b++ => b != gridDim.x; b++
