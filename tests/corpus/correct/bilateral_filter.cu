// Bilateral filter on uchar4 pixels: vector arithmetic by overloaded operators, saturating conversion, clamped window.

__device__ inline float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ inline float4 operator*(float s, float4 a) { return make_float4(s * a.x, s * a.y, s * a.z, s * a.w); }
__device__ inline float4 to_float(uchar4 c) { return make_float4(c.x / 255.f, c.y / 255.f, c.z / 255.f, c.w / 255.f); }

__device__ float euclidean(float4 a, float4 b, float d)
{
    float mod = (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z);
    return expf(-mod / (2 * d * d));
}

__device__ unsigned char saturate_byte(float v) { return (unsigned char)(__saturatef(v) * 255.0f + 0.5f); }

// warpsmith: grid=2,2 block=8,8 arg src=uchar4[16][16]=random arg dst=uchar4[16][16] arg w=16 arg h=16 arg e_d=0.1 arg r=2
// warpsmith: grid=2,2 block=8,8 arg src=uchar4[9][13]=random arg dst=uchar4[9][13] arg w=13 arg h=9 arg e_d=0.3 arg r=3
__global__ void d_bilateral_filter(const uchar4 *src, uchar4 *dst, int w, int h, float e_d, int r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;

    float sum = 0.0f;
    float4 t = {0.f, 0.f, 0.f, 0.f};
    const float4 center = to_float(src[y * w + x]);
    for (int i = -r; i <= r; i++) {
        for (int j = -r; j <= r; j++) {
            const int sx = min(max(x + j, 0), w - 1), sy = min(max(y + i, 0), h - 1);
            const float4 cur = to_float(src[sy * w + sx]);
            const float factor = expf(-(i * i + j * j) / (2.0f * r * r)) * euclidean(cur, center, e_d);
            t = t + factor * cur;
            sum += factor;
        }
    }
    t = (1.0f / sum) * t;
    dst[y * w + x] = make_uchar4(saturate_byte(t.x), saturate_byte(t.y), saturate_byte(t.z), saturate_byte(t.w));
}
