// Defect: the transposed store uses half of the row stride, so elements of two blocks land on each other.
// expect: race-global line=9 array=out
// expect: status=1

// warpsmith: grid=2,2 block=8,8 arg in=float[16][16]=iota arg out=float[16][16] arg w=16 arg h=16
__global__ void transpose_wrong_stride(const float *in, float *out, int w, int h)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[x * (h / 2) + y] = in[y * w + x];
}
