// Defect: a slot number without a value for odd inputs is used as an index.
// expect: uninitialized-local line=11
// expect: status=1

// warpsmith: grid=1 block=32 arg x=int[32]=iota arg out=int[32]
__global__ void scatter_even(const int *x, int *out)
{
    int slot;
    const int v = x[threadIdx.x];
    if ((v & 1) == 0) slot = v / 2;
    out[slot] = v;
}
