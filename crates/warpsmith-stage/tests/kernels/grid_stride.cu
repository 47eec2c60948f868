// grid stride loop over tiles with 1-D block, long long data
#define NT 64
__global__ void diff(const long long *v, long long *d, int n)
{
    __shared__ long long t[NT];
    for (int base = blockIdx.x * NT; base < n; base += gridDim.x * NT) {
        int i = base + threadIdx.x;
        if (i < n) t[threadIdx.x] = v[i];
        __syncthreads();
        if (i > 0 && i < n) d[i] = __opt__(v[i]) - __opt__(v[i - 1]);
        __syncthreads();
    }
}
