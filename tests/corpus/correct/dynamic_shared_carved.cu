// One dynamic shared array carved into arrays of three types with alignment kept, the usual workaround for several extern arrays.

// warpsmith: grid=2 block=32 shared=416 arg keys=int[64]=iota arg out=double[64]
// warpsmith: grid=1 block=20 shared=260 arg keys=int[20]=iota arg out=double[20]
__global__ void carved(const int *keys, double *out)
{
    extern __shared__ __align__(8) unsigned char smem[];
    const int n = blockDim.x, t = threadIdx.x;
    double *weights = (double *)smem;                 // n doubles
    int *order = (int *)(weights + n);                // n ints
    unsigned char *marks = (unsigned char *)(order + n);  // n bytes

    const int k = keys[blockIdx.x * n + t];
    weights[t] = 1.0 / (k + 1);
    order[t] = n - 1 - t;
    marks[t] = k & 1;
    __syncthreads();
    const int other = order[t];
    out[blockIdx.x * n + t] = marks[other] ? weights[other] : -weights[other];
}
