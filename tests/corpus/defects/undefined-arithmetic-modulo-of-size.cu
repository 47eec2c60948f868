// Defect: an index is wrapped by a size that is zero for the last block.
// expect: undefined-arithmetic line=9
// expect: status=1

// warpsmith: grid=3 block=32 arg x=float[96]=random arg y=float[96]
__global__ void wrap(const float *x, float *y)
{
    unsigned int rest = 64 - 32 * blockIdx.x;
    unsigned int from = (threadIdx.x + 7) % rest;
    y[32 * blockIdx.x + threadIdx.x] = x[from % 96];
}
