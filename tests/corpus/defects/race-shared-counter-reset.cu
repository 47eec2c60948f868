// Defect: a counter is cleared by one thread and counted by atomics of all without a barrier; that thread's own atomic comes first.
// expect: race-shared line=11 array=count
// expect: status=1

// warpsmith: grid=2 block=64 arg x=int[128]=iota arg above=uint[2]
__global__ void count_above(const int *x, unsigned *above)
{
    __shared__ unsigned count;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) count = 0;
    if (x[i] > -1) atomicAdd(&count, 1u);
    __syncthreads();
    if (threadIdx.x == 0) above[blockIdx.x] = count;
}
