// Single-pass reduction finished by the last block to arrive: fence, atomic ticket, fence instead of a second launch.
__device__ unsigned int retirement_count = 0;

template <int BLOCK>
__device__ float tree_sum(float *s, float v)
{
    const int t = threadIdx.x;
    s[t] = v;
    __syncthreads();
#pragma unroll
    for (int k = BLOCK / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    return s[0];
}

// warpsmith: kernel='reduce_single_pass<64>' grid=5 block=64 arg n=320 arg in=float[320]=random arg partial=float[5] arg out=float[1]
// warpsmith: kernel='reduce_single_pass<32>' grid=7 block=32 arg n=203 arg in=float[203]=random arg partial=float[7] arg out=float[1]
template <int BLOCK>
__global__ void reduce_single_pass(const float *in, float *partial, float *out, int n)
{
    __shared__ float s[BLOCK];
    __shared__ bool am_last;
    const int i = blockIdx.x * BLOCK + threadIdx.x;

    float total = tree_sum<BLOCK>(s, i < n ? in[i] : 0.f);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = total;
        __threadfence();  // the partial sum is visible before the ticket is taken
        const unsigned int ticket = atomicInc(&retirement_count, gridDim.x - 1);
        am_last = (ticket == gridDim.x - 1);
    }
    __syncthreads();

    if (am_last) {
        __threadfence();
        float v = 0.f;
        for (int b = threadIdx.x; b < gridDim.x; b += BLOCK) v += partial[b];
        v = tree_sum<BLOCK>(s, v);
        if (threadIdx.x == 0) *out = v;
    }
}
