// Interleaved tree reduction with a modulo branch: scattered readers and writers in every step, one barrier a step.

// warpsmith: grid=4 block=64 arg n=256 arg in=float[256]=random arg out=float[4]
// warpsmith: grid=3 block=128 arg n=301 arg in=float[301]=random arg out=float[3]
__global__ void reduce_interleaved(const float *in, float *out, int n)
{
    __shared__ float sdata[128];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    sdata[tid] = (i < n) ? in[i] : 0.0f;
    __syncthreads();

    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) out[blockIdx.x] = sdata[0];
}
