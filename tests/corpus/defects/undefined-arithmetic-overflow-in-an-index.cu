// expect: undefined-arithmetic line=11
// expect: undefined-arithmetic line=18
// expect: undefined-arithmetic line=23
// expect: status=1
// Defect: products and sums that are no `int` decide which elements are written, whatever range the subscripts end in.

// warpsmith: grid=1 block=32 arg out=int[32] arg stride=200000000
__global__ void guarded(int *out, int stride)
{
    int t = threadIdx.x;
    int i = t * stride;
    if (i >= 0 && i < 32) out[i] = t;
}
// warpsmith: grid=1 block=32 arg out=int[64]
__global__ void summed(int *out)
{
    int t = threadIdx.x;
    out[(2147483647 - 16 + t) - 2147483647 + 20] = t;
}
// warpsmith: grid=1 block=32 arg out=int[64] arg rows=70000
__global__ void through_a_pointer(int *out, int rows)
{
    int end = rows * rows;
    int *last = out + (end - 605032704 + 7);
    if (threadIdx.x == 0) *last = rows;
}
