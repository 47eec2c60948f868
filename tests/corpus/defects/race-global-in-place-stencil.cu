// Defect: a stencil updates its input in place; neighbours are read while their owners write them.
// expect: race-global line=10 array=a
// expect: status=1

// warpsmith: grid=2 block=32 arg a=float[64]=random arg n=64
__global__ void smooth_in_place(float *a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        a[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
}
