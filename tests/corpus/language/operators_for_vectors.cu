// Operators and helpers for vector types as the samples' helper_math has them.
inline __host__ __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ void operator+=(float3 &a, float3 b)
{
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
}
inline __host__ __device__ float3 operator*(float s, float3 a) { return make_float3(s * a.x, s * a.y, s * a.z); }
inline __host__ __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline __host__ __device__ float3 normalize(float3 v) { return rsqrtf(dot(v, v)) * v; }
inline __device__ __host__ float clamp(float f, float a, float b) { return fmaxf(a, fminf(f, b)); }
inline __device__ __host__ int clamp(int f, int a, int b) { return max(a, min(f, b)); }
inline __device__ __host__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__device__ uint to_int(float4 c)
{
    c.x = __saturatef(fabs(c.x));
    c.w = __saturatef(fabs(c.w));
    return (uint(c.w * 255.0f) << 24) | uint(c.x * 255.0f);
}
// warpsmith: grid=1 block=64 arg o=unsigned[64]
__global__ void colours(uint *o)
{
    int i = threadIdx.x;
    float3 a = make_float3(3, 0, 0);
    a += normalize(a + a);
    __assert(a.x == 4.0f && clamp(i, 0, 3) == (i < 3 ? i : 3));
    o[i] = to_int(make_float4(clamp(a.x, 0.0f, 1.0f), lerp(0, 1, 0.5f), 0, 1));
    __assert(o[i] == 0xff0000ffu);
}
