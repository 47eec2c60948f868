// Defect: a barrier of the grid with fences for one block.
// expect: race-global line=24 array=b
// expect: status=1

__device__ void everybody(unsigned *arrived, unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_block();
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < goal)
            ;
        __threadfence_block();
    }
    __syncthreads();
}

// warpsmith: grid=3 block=32 arg a=float[96]=random arg b=float[96] arg c=float[96] arg arrived=uint[1]=zeros
__global__ void two_sweeps(const float *a, float *b, float *c, unsigned *arrived)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    b[i] = 2.0f * a[i];
    everybody(arrived, gridDim.x);
    c[i] = b[95 - i];
}
