// expect: out-of-bounds line=10 array=rows
// expect: status=1
// Defect: the pointer begins at the middle of the rows, and as many elements are written behind it as there are rows.
__device__ float rows[64];
__device__ float *upper = &rows[32];

// warpsmith: grid=1 block=64
__global__ void fill()
{
    upper[threadIdx.x] = threadIdx.x;
}
