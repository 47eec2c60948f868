// Threads past the end return before a barrier the rest pass: legal on Volta and later, and it yields the note exited-before-barrier.

// warpsmith: grid=3 block=32 arg in=float[80]=random arg out=float[80] arg n=80
__global__ void swap_neighbours(const float *in, float *out, int n)
{
    __shared__ float s[32];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;  // deliberate: n is even, so a pair stays or leaves as a whole
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[threadIdx.x ^ 1];
}
