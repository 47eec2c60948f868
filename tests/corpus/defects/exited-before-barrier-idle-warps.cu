// All warps but the first leave before a barrier that the first warp uses alone: a note.
// expect: exited-before-barrier line=11
// expect: status=0

// warpsmith: grid=1 block=96 arg in=float[32]=random arg out=float[32]
__global__ void first_warp_only(const float *in, float *out)
{
    __shared__ float s[32];
    if (threadIdx.x / 32 != 0) return;
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
