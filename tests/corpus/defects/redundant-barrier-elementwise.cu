// A barrier in an elementwise kernel without communication: a note.
// expect: redundant-barrier line=11
// expect: status=0

// warpsmith: grid=3 block=32 arg x=float[90]=random arg y=float[90]=random arg n=90
__global__ void axpy_with_barrier(const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0.0f;
    if (i < n) v = 3.0f * x[i] + y[i];
    __syncthreads();
    if (i < n) y[i] = v;
}
