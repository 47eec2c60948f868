// Defect: the left neighbour of the first element is read.
// expect: out-of-bounds line=9 array=in
// expect: status=1

// warpsmith: grid=2 block=32 arg in=int[64]=iota arg out=int[64] arg n=64
__global__ void forward_difference(const int *in, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] - in[i - 1];
}
