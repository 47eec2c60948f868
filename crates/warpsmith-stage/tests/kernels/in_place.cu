// Smooths an array in place, inside of each block: neighbours are read while their threads write them.
#define B 64
__global__ void smooth_inplace(double *a, int n) {
    __shared__ double t[B];
    int i = blockIdx.x * B + threadIdx.x;
    if (i < n) t[threadIdx.x] = a[i];
    __syncthreads();
    if (i > 0 && i < n - 1 && threadIdx.x > 0 && threadIdx.x < B - 1) a[i] = 0.5 * (__opt__(a[i - 1]) + __opt__(a[i + 1]));
}
