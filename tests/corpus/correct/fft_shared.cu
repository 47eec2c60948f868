// Radix-2 FFT in shared memory on float2 with bit-reversed loads by __brev: in-place butterflies, sincospif.

__device__ __forceinline__ float2 cmul(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// warpsmith: kernel='fft_radix2<6>' grid=2 block=32 arg data=float2[128]=random
// warpsmith: kernel='fft_radix2<4>' grid=3 block=8 arg data=float2[48]=random(2)
template <int LOG_N>
__global__ void fft_radix2(float2 *data)
{
    constexpr int N = 1 << LOG_N;
    __shared__ float2 s[N];
    float2 *mine = data + blockIdx.x * N;
    const unsigned t = threadIdx.x;

    s[__brev(t) >> (32 - LOG_N)] = mine[t];
    s[__brev(t + N / 2) >> (32 - LOG_N)] = mine[t + N / 2];
    __syncthreads();

    for (int half = 1; half < N; half <<= 1) {
        const int k = t & (half - 1);
        const int top = ((t - k) << 1) + k;
        float sn, cs;
        sincospif(-(float)k / (float)half, &sn, &cs);
        const float2 a = s[top];
        const float2 b = cmul(s[top + half], make_float2(cs, sn));
        s[top] = make_float2(a.x + b.x, a.y + b.y);
        s[top + half] = make_float2(a.x - b.x, a.y - b.y);
        __syncthreads();
    }
    mine[t] = s[t];
    mine[t + N / 2] = s[t + N / 2];
}
