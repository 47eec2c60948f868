// Defect: the launch gives dynamic shared memory for the block's floats, but the kernel stores two a thread.
// expect: out-of-bounds line=11 array=pool
// expect: status=1

// warpsmith: grid=1 block=32 shared=128 arg in=float[32]=iota arg out=float[32]
__global__ void two_per_thread(const float *in, float *out)
{
    extern __shared__ float pool[];
    const int t = threadIdx.x;
    pool[t] = in[t];
    pool[t + blockDim.x] = in[t] + 1.0f;
    __syncthreads();
    out[t] = pool[31 - t];
}
