// Defect: __syncthreads is used as if it were a barrier of the whole grid.
// expect: race-global line=9 array=b
// expect: status=1

// warpsmith: grid=4 block=16 arg a=int[64]=iota arg b=int[64] arg c=int[64] arg n=64
__global__ void two_sweeps(const int *a, int *b, int *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i] * a[i];
    __syncthreads();
    c[i] = b[(i + 1) % n] - b[i];
}
