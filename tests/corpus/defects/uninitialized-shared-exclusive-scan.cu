// Defect: the shift to an exclusive scan leaves slot 0 unset.
// expect: uninitialized-shared line=12 array=s
// expect: status=1

// warpsmith: grid=1 block=32 arg in=int[32]=iota arg out=int[32]
__global__ void shift_right(const int *in, int *out)
{
    __shared__ int s[33];
    const int t = threadIdx.x;
    s[t + 1] = in[t];
    __syncthreads();
    out[t] = s[t];
}
