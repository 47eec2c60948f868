// Defect: the classic warp-synchronous tail on a volatile pointer, wrong since independent thread scheduling.
// expect: race-shared line=6 array=sdata
// expect: status=1
__device__ void warp_reduce(volatile int *sdata, int tid)
{
    if (tid < 2) sdata[tid] += sdata[tid + 2];
    if (tid < 1) sdata[tid] += sdata[tid + 1];
}

// warpsmith: grid=2 block=4 arg in=int[8]=iota arg out=int[2]
__global__ void reduce4(const int *in, int *out)
{
    __shared__ int sdata[4];
    const int tid = threadIdx.x;
    sdata[tid] = in[blockIdx.x * 4 + tid];
    __syncthreads();
    warp_reduce(sdata, tid);
    if (tid == 0) out[blockIdx.x] = sdata[0];
}
