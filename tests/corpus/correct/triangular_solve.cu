// Forward substitution in one block: one unknown a step is published through shared memory, barriers in a uniform loop.

// warpsmith: grid=1 block=32 arg L=float[32][32]=random arg b=float[32]=random arg x=float[32] arg n=32
// warpsmith: grid=1 block=32 arg L=float[23][23]=random arg b=float[23]=random arg x=float[23] arg n=23
__global__ void trsv_lower(const float *L, const float *b, float *x, int n)
{
    __shared__ float solved;
    const int i = threadIdx.x;
    float rhs = i < n ? b[i] : 0.0f;
    for (int k = 0; k < n; k++) {
        if (i == k) {
            solved = rhs / (L[k * n + k] + 4.0f);
            x[k] = solved;
        }
        __syncthreads();
        if (i > k && i < n) rhs -= L[i * n + k] * solved;
        __syncthreads();
    }
}
