// Defect: a function promises a position inside of the row, and its clamp lets the end itself through.
// expect: assert-failed line=7
// expect: status=1

__device__ int clamped(int i, int n)
{
    __ensures(__return_val_int() >= 0 & __return_val_int() < n);
    if (i < 0) return 0;
    return i > n ? n : i;
}

// warpsmith: grid=1 block=32 arg x=float[40] arg y=float[32] arg n=31
__global__ void shift(const float *x, float *y, int n)
{
    y[threadIdx.x] = x[clamped(threadIdx.x, n)];
}
