// Defect: the last element of a local array is never filled.
// expect: uninitialized-local line=11 array=w
// expect: status=1

// warpsmith: grid=2 block=16 arg x=int[32]=iota arg out=int[32]
__global__ void last_weight(const int *x, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int w[4];
    for (int k = 0; k < 3; k++) w[k] = x[i] * k;
    out[i] = w[x[i] & 3];
}
