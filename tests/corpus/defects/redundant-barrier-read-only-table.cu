// A barrier between two passes that only read shared memory: a note.
// expect: redundant-barrier line=13
// expect: status=0

// warpsmith: grid=2 block=32 arg in=int[32]=iota arg lo=int[64] arg hi=int[64]
__global__ void two_lookups(const int *in, int *lo, int *hi)
{
    __shared__ int table[32];
    const int t = threadIdx.x, i = blockIdx.x * 32 + t;
    table[t] = in[t] * in[t];
    __syncthreads();
    lo[i] = table[(t + 1) & 31];
    __syncthreads();
    hi[i] = table[(t + 16) & 31];
}
