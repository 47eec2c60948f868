// Defect: each branch has a barrier of its own, so neither is reached by all threads.
// expect: divergent-barrier line=12
// expect: status=1

// warpsmith: grid=1 block=64 arg in=int[64]=iota arg out=int[64]
__global__ void producer_consumer(const int *in, int *out)
{
    __shared__ int mail[32];
    const int t = threadIdx.x;
    if (t < 32) {
        mail[t] = in[t];
        __syncthreads();
        out[t] = t;
    } else {
        __syncthreads();
        out[t] = mail[t - 32];
    }
}
