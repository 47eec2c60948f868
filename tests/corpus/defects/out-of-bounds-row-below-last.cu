// Defect: a 2-D stencil reads the row below the last one; the column guard is right, the row guard is off by one.
// expect: out-of-bounds line=10 array=img
// expect: status=1

// warpsmith: grid=2,2 block=8,8 arg img=float[13][11]=random arg out=float[13][11] arg w=11 arg h=13
__global__ void vertical_gradient(const float *img, float *out, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = img[(y + 1) * w + x] - img[y * w + x];
}
