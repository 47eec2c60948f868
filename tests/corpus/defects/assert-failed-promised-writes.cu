// Defect: the kernel promises to write to `out` alone, and writes where its input lies, too
// expect: assert-failed line=11
// expect: status=1

// warpsmith: grid=1 block=32 arg in=int[32]=iota arg out=int[32]
__global__ void doubled(int *in, int *out)
{
    __reads_from(in);
    __writes_to(out);
    const int v = 2 * in[threadIdx.x];
    in[threadIdx.x] = v;
    out[threadIdx.x] = v;
}
