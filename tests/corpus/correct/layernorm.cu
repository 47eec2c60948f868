// Layer normalisation with Welford statistics merged across lanes by xor shuffles: a struct passed by value and returned.

struct Welford {
    float mean, m2, count;
    __device__ void push(float x)
    {
        count += 1.f;
        float delta = x - mean;
        mean += delta / count;
        m2 += delta * (x - mean);
    }
};

__device__ Welford combine(const Welford &a, const Welford &b)
{
    Welford r;
    r.count = a.count + b.count;
    if (r.count == 0.f) { r.mean = 0.f; r.m2 = 0.f; return r; }
    const float delta = b.mean - a.mean, nb = b.count / r.count;
    r.mean = a.mean + delta * nb;
    r.m2 = a.m2 + b.m2 + delta * delta * a.count * nb;
    return r;
}

// warpsmith: grid=2 block=32,4 arg x=float[8][48]=random arg gamma=float[48]=random arg beta=float[48]=random arg y=float[8][48] arg rows=8 arg cols=48 arg eps=0.00001
// warpsmith: grid=2 block=32,3 arg x=float[5][21]=random arg gamma=float[21]=random arg beta=float[21]=random arg y=float[5][21] arg rows=5 arg cols=21 arg eps=0.00001
__global__ void layernorm(const float *x, const float *gamma, const float *beta, float *y, int rows, int cols, float eps)
{
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < rows; row += gridDim.x * blockDim.y) {
        Welford w = {0.f, 0.f, 0.f};
        for (int c = threadIdx.x; c < cols; c += 32) w.push(x[row * cols + c]);
        for (int mask = 16; mask > 0; mask >>= 1) {
            Welford o;
            o.mean = __shfl_xor_sync(0xffffffff, w.mean, mask);
            o.m2 = __shfl_xor_sync(0xffffffff, w.m2, mask);
            o.count = __shfl_xor_sync(0xffffffff, w.count, mask);
            w = combine(w, o);
        }
        const float inv = rsqrtf(w.m2 / w.count + eps);
        for (int c = threadIdx.x; c < cols; c += 32)
            y[row * cols + c] = (x[row * cols + c] - w.mean) * inv * gamma[c] + beta[c];
    }
}
