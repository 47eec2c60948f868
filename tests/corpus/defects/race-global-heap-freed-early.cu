// Defect: no barrier between the last reads of the block's memory and the thread that frees it
// expect: race-global line=13 array=heap
// expect: status=1

// warpsmith: grid=1 block=64 arg out=float[64]
__global__ void scratch(float *out)
{
    __shared__ float *s;
    if (threadIdx.x == 0) s = new float[64];
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
    if (threadIdx.x == 63) delete[] s;
}
