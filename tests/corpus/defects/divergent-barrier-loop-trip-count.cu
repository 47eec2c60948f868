// Defect: the loop around the barrier runs a different number of times in different threads.
// expect: divergent-barrier line=13
// expect: status=1

// warpsmith: grid=1 block=32 arg in=int[32]=iota arg out=int[32] arg n=40
__global__ void strided_exchange(const int *in, int *out, int n)
{
    __shared__ int s[32];
    const int t = threadIdx.x;
    int acc = 0;
    s[t] = in[t];
    for (int i = t; i < n; i += blockDim.x) {
        __syncthreads();
        acc += s[(t + i) & 31];
    }
    __syncthreads();
    s[31 - t] = acc;
    __syncthreads();
    out[t] = s[t];
}
