// Recursive templates and constexpr: a compile-time power, a recursive unrolled dot product, a static constexpr table.

template <int N>
struct Dot {
    static __device__ float eval(const float *a, const float *b) { return a[0] * b[0] + Dot<N - 1>::eval(a + 1, b + 1); }
};
template <>
struct Dot<0> {
    static __device__ float eval(const float *, const float *) { return 0.0f; }
};

constexpr int ipow(int b, int e) { return e == 0 ? 1 : b * ipow(b, e - 1); }

// warpsmith: kernel='batched_dot<4>' grid=1 block=32 arg a=float[32][4]=random arg b=float[32][4]=random arg out=float[32] arg n=32
// warpsmith: kernel='batched_dot<7>' grid=2 block=16 arg a=float[25][7]=random arg b=float[25][7]=random arg out=float[25] arg n=25
template <int WIDTH>
__global__ void batched_dot(const float *a, const float *b, float *out, int n)
{
    constexpr float scale = 1.0f / ipow(2, WIDTH);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = scale * Dot<WIDTH>::eval(a + i * WIDTH, b + i * WIDTH);
}
