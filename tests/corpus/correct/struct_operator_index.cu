// A struct of eight values whose elements are reached through an overloaded operator, with constant and other indices.
// warpsmith: grid=2 block=64 arg x=float[1024]=random arg y=float[128]
struct alignas(16) Eight {
    float v[8];
    __device__ float &operator[](int i) { return v[i]; }
    __device__ float *first() { return &v[0]; }
};

__device__ void add(Eight &sum, const Eight &x) {
    for (int k = 0; k < 8; ++k) sum.v[k] += x.v[k];
}

__global__ void sums(const float *x, float *y) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    Eight r, s;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        r[k] = x[8 * t + k];
        s.v[k] = 0.0f;
    }
    add(s, r);
    float total = *s.first();
    for (int k = 1; k < 8; ++k) total += s[k];
    y[t] = total;
}
