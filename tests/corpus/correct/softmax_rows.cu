// Row softmax, one block a row: a max reduction and a sum reduction over the same shared array, infinities, expf.
#include <math.h>

template <class Op>
__device__ float block_reduce(float *s, float v, Op op)
{
    const int t = threadIdx.x;
    __syncthreads();  // the array may still be read from the reduction before
    s[t] = v;
    __syncthreads();
    for (int k = blockDim.x >> 1; k; k >>= 1) {
        if (t < k) s[t] = op(s[t], s[t + k]);
        __syncthreads();
    }
    return s[0];
}

struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Sum { __device__ float operator()(float a, float b) const { return a + b; } };

// warpsmith: grid=4 block=32 shared=128 arg x=float[4][64]=random arg y=float[4][64] arg cols=64
// warpsmith: grid=3 block=64 shared=256 arg x=float[3][77]=random arg y=float[3][77] arg cols=77
__global__ void softmax(const float *x, float *y, int cols)
{
    extern __shared__ float scratch[];
    const float *row = x + blockIdx.x * cols;
    float *dst = y + blockIdx.x * cols;

    float m = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, row[c]);
    m = block_reduce(scratch, m, Max());

    float sum = 0.f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(row[c] - m);
    sum = block_reduce(scratch, sum, Sum());

    for (int c = threadIdx.x; c < cols; c += blockDim.x) dst[c] = expf(row[c] - m) / sum;
}
