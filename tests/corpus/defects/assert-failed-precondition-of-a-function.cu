// Defect: a function requires that its index has a right neighbour, and the last thread calls it all the same.
// expect: assert-failed line=8
// expect: status=1

__device__ float slope(const float *x, int i, int n)
{
    // Owed by the caller: no launch is left out for it.
    __requires(i + 1 < n);
    return i + 1 < n ? x[i + 1] - x[i] : 0.0f;
}

// warpsmith: grid=1 block=32 arg x=float[32] arg y=float[32] arg n=32
__global__ void slopes(const float *x, float *y, int n)
{
    y[threadIdx.x] = slope(x, threadIdx.x, n);
}
