// Defect: a compacted index list in shared memory is used past its end as an address.
// expect: uninitialized-shared line=12 array=list
// expect: status=1

// warpsmith: grid=1 block=32 arg x=int[32]=iota arg out=int[32]
__global__ void gather_even(const int *x, int *out)
{
    __shared__ int list[32];
    const int t = threadIdx.x;
    if (x[t] % 2 == 0) list[x[t] / 2] = t;
    __syncthreads();
    out[t] = x[list[t]];
}
