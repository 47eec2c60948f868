// Operators and functions on vectors, as the samples of the toolkit have them in `helper_math.h`.
#ifndef HELPER_MATH_H
#define HELPER_MATH_H

typedef unsigned int uint;
typedef unsigned short ushort;

#define WS_FN inline __host__ __device__
#define WS_ARITHMETIC2(V, T)                                                                       \
    WS_FN V##2 make_##V##2(T s) { return make_##V##2(s, s); }                                      \
    WS_FN V##2 make_##V##2(V##3 a) { return make_##V##2(a.x, a.y); }                               \
    WS_FN V##2 operator+(V##2 a, V##2 b) { return make_##V##2(a.x + b.x, a.y + b.y); }             \
    WS_FN V##2 operator-(V##2 a, V##2 b) { return make_##V##2(a.x - b.x, a.y - b.y); }             \
    WS_FN V##2 operator*(V##2 a, V##2 b) { return make_##V##2(a.x * b.x, a.y * b.y); }             \
    WS_FN V##2 operator+(V##2 a, T b) { return make_##V##2(a.x + b, a.y + b); }                    \
    WS_FN V##2 operator-(V##2 a, T b) { return make_##V##2(a.x - b, a.y - b); }                    \
    WS_FN V##2 operator*(V##2 a, T b) { return make_##V##2(a.x * b, a.y * b); }                    \
    WS_FN V##2 operator+(T a, V##2 b) { return make_##V##2(a + b.x, a + b.y); }                    \
    WS_FN V##2 operator-(T a, V##2 b) { return make_##V##2(a - b.x, a - b.y); }                    \
    WS_FN V##2 operator*(T a, V##2 b) { return make_##V##2(a * b.x, a * b.y); }

#define WS_ARITHMETIC3(V, T)                                                                       \
    WS_FN V##3 make_##V##3(T s) { return make_##V##3(s, s, s); }                                   \
    WS_FN V##3 make_##V##3(V##2 a) { return make_##V##3(a.x, a.y, 0); }                            \
    WS_FN V##3 make_##V##3(V##2 a, T s) { return make_##V##3(a.x, a.y, s); }                       \
    WS_FN V##3 make_##V##3(V##4 a) { return make_##V##3(a.x, a.y, a.z); }                          \
    WS_FN V##3 operator+(V##3 a, V##3 b) { return make_##V##3(a.x + b.x, a.y + b.y, a.z + b.z); }  \
    WS_FN V##3 operator-(V##3 a, V##3 b) { return make_##V##3(a.x - b.x, a.y - b.y, a.z - b.z); }  \
    WS_FN V##3 operator*(V##3 a, V##3 b) { return make_##V##3(a.x * b.x, a.y * b.y, a.z * b.z); }  \
    WS_FN V##3 operator+(V##3 a, T b) { return make_##V##3(a.x + b, a.y + b, a.z + b); }           \
    WS_FN V##3 operator-(V##3 a, T b) { return make_##V##3(a.x - b, a.y - b, a.z - b); }           \
    WS_FN V##3 operator*(V##3 a, T b) { return make_##V##3(a.x * b, a.y * b, a.z * b); }           \
    WS_FN V##3 operator+(T a, V##3 b) { return make_##V##3(a + b.x, a + b.y, a + b.z); }           \
    WS_FN V##3 operator-(T a, V##3 b) { return make_##V##3(a - b.x, a - b.y, a - b.z); }           \
    WS_FN V##3 operator*(T a, V##3 b) { return make_##V##3(a * b.x, a * b.y, a * b.z); }

#define WS_ARITHMETIC4(V, T)                                                                       \
    WS_FN V##4 make_##V##4(T s) { return make_##V##4(s, s, s, s); }                                \
    WS_FN V##4 make_##V##4(V##3 a) { return make_##V##4(a.x, a.y, a.z, 0); }                       \
    WS_FN V##4 make_##V##4(V##3 a, T w) { return make_##V##4(a.x, a.y, a.z, w); }                  \
    WS_FN V##4 operator+(V##4 a, V##4 b) { return make_##V##4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); } \
    WS_FN V##4 operator-(V##4 a, V##4 b) { return make_##V##4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); } \
    WS_FN V##4 operator*(V##4 a, V##4 b) { return make_##V##4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); } \
    WS_FN V##4 operator+(V##4 a, T b) { return make_##V##4(a.x + b, a.y + b, a.z + b, a.w + b); }  \
    WS_FN V##4 operator-(V##4 a, T b) { return make_##V##4(a.x - b, a.y - b, a.z - b, a.w - b); }  \
    WS_FN V##4 operator*(V##4 a, T b) { return make_##V##4(a.x * b, a.y * b, a.z * b, a.w * b); }  \
    WS_FN V##4 operator+(T a, V##4 b) { return make_##V##4(a + b.x, a + b.y, a + b.z, a + b.w); }  \
    WS_FN V##4 operator-(T a, V##4 b) { return make_##V##4(a - b.x, a - b.y, a - b.z, a - b.w); }  \
    WS_FN V##4 operator*(T a, V##4 b) { return make_##V##4(a * b.x, a * b.y, a * b.z, a * b.w); }

// What follows from the operators is the same for every number of elements.
#define WS_ASSIGNED(V, T)                                                                          \
    WS_FN void operator+=(V &a, V b) { a = a + b; }                                                \
    WS_FN void operator-=(V &a, V b) { a = a - b; }                                                \
    WS_FN void operator*=(V &a, V b) { a = a * b; }                                                \
    WS_FN void operator+=(V &a, T b) { a = a + b; }                                                \
    WS_FN void operator-=(V &a, T b) { a = a - b; }                                                \
    WS_FN void operator*=(V &a, T b) { a = a * b; }

#define WS_VECTORS(V, T)                                                                           \
    WS_ARITHMETIC2(V, T) WS_ARITHMETIC3(V, T) WS_ARITHMETIC4(V, T)                                 \
    WS_ASSIGNED(V##2, T) WS_ASSIGNED(V##3, T) WS_ASSIGNED(V##4, T)                                 \
    WS_FN T dot(V##2 a, V##2 b) { return a.x * b.x + a.y * b.y; }                                  \
    WS_FN T dot(V##3 a, V##3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }                      \
    WS_FN T dot(V##4 a, V##4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

WS_VECTORS(float, float)
WS_VECTORS(int, int)
WS_VECTORS(uint, uint)

#define WS_NEGATED(V)                                                                              \
    WS_FN V##2 operator-(const V##2 &a) { return make_##V##2(-a.x, -a.y); }                        \
    WS_FN V##3 operator-(const V##3 &a) { return make_##V##3(-a.x, -a.y, -a.z); }                  \
    WS_FN V##4 operator-(const V##4 &a) { return make_##V##4(-a.x, -a.y, -a.z, -a.w); }
WS_NEGATED(float)
WS_NEGATED(int)

WS_FN float2 operator/(float2 a, float2 b) { return make_float2(a.x / b.x, a.y / b.y); }
WS_FN float3 operator/(float3 a, float3 b) { return make_float3(a.x / b.x, a.y / b.y, a.z / b.z); }
WS_FN float4 operator/(float4 a, float4 b) { return make_float4(a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w); }
WS_FN float2 operator/(float2 a, float b) { return make_float2(a.x / b, a.y / b); }
WS_FN float3 operator/(float3 a, float b) { return make_float3(a.x / b, a.y / b, a.z / b); }
WS_FN float4 operator/(float4 a, float b) { return make_float4(a.x / b, a.y / b, a.z / b, a.w / b); }
WS_FN float2 operator/(float a, float2 b) { return make_float2(a / b.x, a / b.y); }
WS_FN float3 operator/(float a, float3 b) { return make_float3(a / b.x, a / b.y, a / b.z); }
WS_FN float4 operator/(float a, float4 b) { return make_float4(a / b.x, a / b.y, a / b.z, a / b.w); }
#define WS_DIVIDED(V)                                                                              \
    WS_FN void operator/=(V &a, V b) { a = a / b; }                                                \
    WS_FN void operator/=(V &a, float b) { a = a / b; }
WS_DIVIDED(float2)
WS_DIVIDED(float3)
WS_DIVIDED(float4)

// Conversions between kinds of numbers.
#define WS_FROM(V, T, W)                                                                           \
    WS_FN V##2 make_##V##2(W##2 a) { return make_##V##2(T(a.x), T(a.y)); }                         \
    WS_FN V##3 make_##V##3(W##3 a) { return make_##V##3(T(a.x), T(a.y), T(a.z)); }                 \
    WS_FN V##4 make_##V##4(W##4 a) { return make_##V##4(T(a.x), T(a.y), T(a.z), T(a.w)); }
WS_FROM(float, float, int)
WS_FROM(float, float, uint)
WS_FROM(int, int, float)
WS_FROM(int, int, uint)
WS_FROM(uint, uint, int)

// Functions of one, two or three vectors, component by component.
#define WS_EACH1(V, NAME, F)                                                                       \
    WS_FN V##2 NAME(V##2 a) { return make_##V##2(F(a.x), F(a.y)); }                                \
    WS_FN V##3 NAME(V##3 a) { return make_##V##3(F(a.x), F(a.y), F(a.z)); }                        \
    WS_FN V##4 NAME(V##4 a) { return make_##V##4(F(a.x), F(a.y), F(a.z), F(a.w)); }
#define WS_EACH2(V, NAME, F)                                                                       \
    WS_FN V##2 NAME(V##2 a, V##2 b) { return make_##V##2(F(a.x, b.x), F(a.y, b.y)); }              \
    WS_FN V##3 NAME(V##3 a, V##3 b) { return make_##V##3(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z)); } \
    WS_FN V##4 NAME(V##4 a, V##4 b) { return make_##V##4(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z), F(a.w, b.w)); }
WS_EACH2(float, fminf, fminf)
WS_EACH2(float, fmaxf, fmaxf)
WS_EACH2(float, fmodf, fmodf)
WS_EACH2(int, min, min)
WS_EACH2(int, max, max)
WS_EACH2(uint, min, min)
WS_EACH2(uint, max, max)
WS_EACH1(float, floorf, floorf)
WS_EACH1(float, fabs, fabsf)
WS_EACH1(int, abs, abs)
WS_FN float fracf(float v) { return v - floorf(v); }
WS_EACH1(float, fracf, fracf)

WS_FN float lerp(float a, float b, float t) { return a + t * (b - a); }
WS_FN float2 lerp(float2 a, float2 b, float t) { return a + t * (b - a); }
WS_FN float3 lerp(float3 a, float3 b, float t) { return a + t * (b - a); }
WS_FN float4 lerp(float4 a, float4 b, float t) { return a + t * (b - a); }

WS_FN float clamp(float f, float a, float b) { return fmaxf(a, fminf(f, b)); }
WS_FN int clamp(int f, int a, int b) { return max(a, min(f, b)); }
WS_FN uint clamp(uint f, uint a, uint b) { return max(a, min(f, b)); }
#define WS_CLAMPED(V, T)                                                                           \
    WS_FN V##2 clamp(V##2 v, V##2 a, V##2 b) { return make_##V##2(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y)); } \
    WS_FN V##3 clamp(V##3 v, V##3 a, V##3 b) { return make_##V##3(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z)); } \
    WS_FN V##4 clamp(V##4 v, V##4 a, V##4 b) { return make_##V##4(clamp(v.x, a.x, b.x), clamp(v.y, a.y, b.y), clamp(v.z, a.z, b.z), clamp(v.w, a.w, b.w)); } \
    WS_FN V##2 clamp(V##2 v, T a, T b) { return clamp(v, make_##V##2(a), make_##V##2(b)); }        \
    WS_FN V##3 clamp(V##3 v, T a, T b) { return clamp(v, make_##V##3(a), make_##V##3(b)); }        \
    WS_FN V##4 clamp(V##4 v, T a, T b) { return clamp(v, make_##V##4(a), make_##V##4(b)); }
WS_CLAMPED(float, float)
WS_CLAMPED(int, int)
WS_CLAMPED(uint, uint)

WS_FN float length(float2 v) { return sqrtf(dot(v, v)); }
WS_FN float length(float3 v) { return sqrtf(dot(v, v)); }
WS_FN float length(float4 v) { return sqrtf(dot(v, v)); }
WS_FN float2 normalize(float2 v) { return v * rsqrtf(dot(v, v)); }
WS_FN float3 normalize(float3 v) { return v * rsqrtf(dot(v, v)); }
WS_FN float4 normalize(float4 v) { return v * rsqrtf(dot(v, v)); }
WS_FN float3 reflect(float3 i, float3 n) { return i - 2.0f * n * dot(n, i); }
WS_FN float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
WS_FN float smoothstep(float a, float b, float x) {
    float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}

#undef WS_ARITHMETIC2
#undef WS_ARITHMETIC3
#undef WS_ARITHMETIC4
#undef WS_ASSIGNED
#undef WS_VECTORS
#undef WS_NEGATED
#undef WS_DIVIDED
#undef WS_FROM
#undef WS_EACH1
#undef WS_EACH2
#undef WS_CLAMPED
#undef WS_FN
#endif
