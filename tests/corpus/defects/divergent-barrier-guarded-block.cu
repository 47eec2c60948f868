// Defect: the last block's out-of-range threads skip the barrier inside the guard and wait at the one behind it.
// expect: divergent-barrier line=13
// expect: status=1

// warpsmith: grid=2 block=32 arg in=float[50]=iota arg out=float[64] arg n=50
__global__ void guarded(const float *in, float *out, int n)
{
    __shared__ float s[32];
    const int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = 0.0f;
    if (i < n) {
        s[t] = in[i];
        __syncthreads();
        out[i] = s[(t + 2) % 32 < n % 32 ? (t + 2) % 32 : 0];
    }
    __syncthreads();
    s[31 - t] = 1.0f;
}
