// Defect: a barrier in a branch that half of the block takes, while the other half waits at a later barrier.
// expect: divergent-barrier line=12
// expect: status=1

// warpsmith: grid=1 block=64 arg in=float[64]=iota arg out=float[64]
__global__ void half_block(const float *in, float *out)
{
    __shared__ float s[64];
    const int t = threadIdx.x;
    s[t] = in[t];
    if (t < 32) {
        __syncthreads();
        out[t] = s[t + 32];
    }
    __syncthreads();
    s[63 - t] = in[t] + 1.0f;
}
