// Threads past n return before the barrier that the rest of the block passes: a note.
// expect: exited-before-barrier line=12
// expect: status=0

// warpsmith: grid=2 block=32 arg in=int[60]=iota arg out=int[60] arg n=60
__global__ void swap_pairs(const int *in, int *out, int n)
{
    __shared__ int s[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[threadIdx.x ^ 1];
}
