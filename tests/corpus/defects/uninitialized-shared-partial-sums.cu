// Defect: only two warps write their partial sum, but the first warp reads all 32 slots.
// expect: uninitialized-shared line=13 array=partial
// expect: status=1

// warpsmith: grid=1 block=64 arg in=int[64]=iota arg out=int[32]
__global__ void warp_totals(const int *in, int *out)
{
    __shared__ int partial[32];
    int v = in[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = partial[threadIdx.x];
}
