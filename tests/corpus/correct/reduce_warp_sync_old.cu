// Warp-synchronous reduction tail of pre-Volta code on a volatile pointer, checked with the lockstep assumption it was written for.

__device__ void warpReduce(volatile int *sdata, int tid)
{
    sdata[tid] += sdata[tid + 32];
    sdata[tid] += sdata[tid + 16];
    sdata[tid] += sdata[tid + 8];
    sdata[tid] += sdata[tid + 4];
    sdata[tid] += sdata[tid + 2];
    sdata[tid] += sdata[tid + 1];
}

// warpsmith: grid=2 block=64 warp-sync arg g_idata=int[128]=iota arg g_odata=int[2]
__global__ void reduce_warp_synchronous(const int *g_idata, int *g_odata)
{
    __shared__ int sdata[64];
    unsigned int tid = threadIdx.x;
    sdata[tid] = g_idata[blockIdx.x * blockDim.x + tid];
    __syncthreads();
    if (tid < 32) warpReduce(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
