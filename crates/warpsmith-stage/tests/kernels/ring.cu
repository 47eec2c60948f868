// periodic border by modulo; 1-D block, flattened; int
#define B 64
__global__ void life1d(const int *cells, int *next, int n)
{
    __shared__ int s[B + 2];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int l = threadIdx.x + 1;
    if (i < n) {
        s[l] = cells[i];
        __insert();
    }
    __syncthreads();
    if (i < n) {
        int left = __opt__(s[l - 1], cells[(i + n - 1) % n]);
        int right = __opt__(s[l + 1], cells[(i + 1) % n]);
        next[i] = (left ^ right) | __opt__(s[l], cells[i]);
    }
}
