// Defect: the guard admits i == n.
// expect: out-of-bounds line=9 array=y
// expect: status=1

// warpsmith: grid=2 block=64 arg n=100 arg x=float[128]=random arg y=float[100]
__global__ void scale(int n, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = 2.0f * x[i];
}
