// Naive 2-D transpose with guards: strided stores from a 2-D grid with edge blocks.

// warpsmith: grid=2,2 block=16,16 arg width=32 arg height=32 arg odata=float[32][32] arg idata=float[32][32]=iota
// warpsmith: grid=3,2 block=16,8 arg width=37 arg height=11 arg odata=float[407] arg idata=float[407]=iota
__global__ void transposeNaive(float *odata, const float *idata, int width, int height)
{
    int xIndex = blockIdx.x * blockDim.x + threadIdx.x;
    int yIndex = blockIdx.y * blockDim.y + threadIdx.y;
    if (xIndex < width && yIndex < height) {
        odata[xIndex * height + yIndex] = idata[yIndex * width + xIndex];
    }
}
