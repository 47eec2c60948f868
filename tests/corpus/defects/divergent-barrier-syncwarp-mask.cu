// Defect: half a warp waits at __syncwarp with a mask that names all lanes; the other half waits at __syncthreads.
// expect: divergent-barrier line=12
// expect: status=1

// warpsmith: grid=1 block=32 arg in=int[32]=iota arg out=int[32]
__global__ void half_warp(const int *in, int *out)
{
    __shared__ int s[32];
    const int t = threadIdx.x;
    s[t] = in[t];
    if (t < 16) {
        __syncwarp(0xffffffffu);
    }
    __syncthreads();
    out[t] = s[31 - t];
}
