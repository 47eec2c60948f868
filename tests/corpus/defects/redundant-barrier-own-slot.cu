// A barrier between a store and a load that every thread makes to its own slot: a note.
// expect: redundant-barrier line=11
// expect: status=0

// warpsmith: grid=2 block=32 arg in=float[64]=random arg out=float[64]
__global__ void through_own_slot(const float *in, float *out)
{
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    out[blockIdx.x * 32 + t] = s[t] * 2.0f;
}
