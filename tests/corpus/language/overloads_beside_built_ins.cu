// Overloads of the user's beside built-in functions of the same name.
inline __host__ __device__ float4 make_float4(float s) { return make_float4(s, s, s, s); }
inline __host__ __device__ float4 make_float4(float3 a, float w) { return make_float4(a.x, a.y, a.z, w); }
inline __host__ __device__ float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
template <typename T> __device__ T max(T a, T b, T c) { return max(max(a, b), c); }
template <class T> __host__ __device__ T min(const T &a, const T &b) { return a < b ? a : b; }

// warpsmith: grid=1 block=32 arg x=float4[32] arg n=3
__global__ void overloads(float4 *x, int n)
{
    float4 v = make_float4(1.0f) + make_float4(make_float3(1.0f, 2.0f, 3.0f), 4.0f);
    v.x = max(v.x, 2.0f, v.y) + min(n, 5) + max(1, 2) + fminf(v.z, v.w);
    x[threadIdx.x] = v;
    __assert(x[threadIdx.x].y == 3.0f);
}
