// Defect: a shuffle in a branch of 8 lanes names the full warp in its mask.
// expect: divergent-barrier line=12
// expect: status=1

// warpsmith: grid=1 block=32 arg in=int[32]=iota arg out=int[32]
__global__ void eight_lanes(const int *in, int *out)
{
    __shared__ int s[32];
    const int lane = threadIdx.x;
    int v = in[lane];
    if (lane < 8)
        v += __shfl_down_sync(0xffffffffu, v, 4);
    s[lane] = v;
    __syncthreads();
    out[lane] = s[31 - lane];
}
