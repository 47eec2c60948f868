// Defect: a local variable is set on one branch only and stored after it.
// expect: uninitialized-local line=10
// expect: status=1

// warpsmith: grid=1 block=32 arg x=float[32]=iota arg out=float[32]
__global__ void clipped(const float *x, float *out)
{
    float best;
    if (x[threadIdx.x] > 3.0f) best = x[threadIdx.x];
    out[threadIdx.x] = best;
}
