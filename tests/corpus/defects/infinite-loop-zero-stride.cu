// Defect: the number of whole warps is used as the stride and is zero for a block of 16.
// expect: infinite-loop line=9
// expect: status=1

// warpsmith: grid=1 block=16 arg in=int[64]=iota arg out=int[64] arg n=64
__global__ void strided_double(const int *in, int *out, int n)
{
    const int stride = (blockDim.x / 32) * 32;
    for (int i = threadIdx.x; i < n; i += stride)
        out[i] = in[i] * 2;
}
