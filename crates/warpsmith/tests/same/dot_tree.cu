// same-as: references.c:dot
__global__ void dot_tree(int n, const double *x, const double *y, double *result) {
    extern __shared__ double part[];
    double s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[i] * y[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) *result = part[0];
}
void run(int n, const double *x, const double *y, double *result) {
    dot_tree<<<1, 64, 64 * sizeof(double)>>>(n, x, y, result);
}
// fault: i < n; i += blockDim.x => i < n; i += blockDim.x + 1
// fault: x[i] * y[i] => x[i] * x[i]
// fault: d > 0; d >>= 1 => d > 1; d >>= 1
// fault: threadIdx.x < d) => threadIdx.x < d - 1)
// fault: part[threadIdx.x] = s; => part[threadIdx.x] = s + 1e-9;
// fault: if (threadIdx.x == 0) *result = part[0]; => if (threadIdx.x == 0) *result = part[1];
// fault:         __syncthreads();\n    }\n =>     }\n
