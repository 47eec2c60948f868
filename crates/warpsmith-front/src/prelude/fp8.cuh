// Floating-point numbers of 8 bits: one sign, four bits of exponent and three of mantissa, or five and two.
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT = 0, __NV_SATFINITE = 1 };
enum __nv_fp8_interpretation_t { __NV_E4M3 = 0, __NV_E5M2 = 1 };

// The nearest number, ties to the even one; what is too large becomes the largest one, or none.
__host__ __device__ inline __nv_fp8_storage_t
__nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    union { float f; unsigned u; } bits;
    bits.f = value;
    if (value != value) return 0x7f;
    unsigned sign = bits.u >> 31 << 7;
    float a = value < 0.0f ? -value : value;
    int mantissa = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
    bool large = kind == __NV_E4M3 ? a > 464.0f : a >= 61440.0f;
    if (large && saturation == __NV_SATFINITE) return (unsigned char)(sign | (kind == __NV_E4M3 ? 0x7e : 0x7b));
    if (large) return (unsigned char)(sign | (kind == __NV_E4M3 ? 0x7f : 0x7c));
    int exponent = (int)((bits.u >> 23) & 255u) - 127;
    if (exponent < 1 - bias) exponent = 1 - bias;
    union { unsigned u; float f; } quantum;
    quantum.u = (unsigned)(exponent - mantissa + 127) << 23;
    unsigned steps = (unsigned)rintf(a / quantum.f);
    return (unsigned char)(sign | ((((unsigned)(exponent + bias) << mantissa) + steps) - (1u << mantissa)));
}
__host__ __device__ inline float floatOfFp8(__nv_fp8_storage_t code, __nv_fp8_interpretation_t kind) {
    float sign = (code & 0x80) != 0 ? -1.0f : 1.0f;
    if (kind == __NV_E4M3) {
        int e = (code >> 3) & 15, m = code & 7;
        if ((code & 0x7f) == 0x7f) return NAN;
        return sign * (e == 0 ? m / 512.0f : (8 + m) * (float)(1 << e) / 1024.0f);
    }
    int e = (code >> 2) & 31, m = code & 3;
    if (e == 31) return m == 0 ? sign * INFINITY : NAN;
    return sign * (e == 0 ? m / 65536.0f : (4 + m) * (float)(1 << e) / 131072.0f);
}
__host__ __device__ inline __nv_fp8_storage_t
__nv_cvt_double_to_fp8(double value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8((float)value, saturation, kind);
}
__host__ __device__ inline __nv_fp8x2_storage_t
__nv_cvt_float2_to_fp8x2(float2 value, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    return (unsigned short)(
        __nv_cvt_float_to_fp8(value.x, saturation, kind) | (__nv_cvt_float_to_fp8(value.y, saturation, kind) << 8)
    );
}
__host__ __device__ inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t code, __nv_fp8_interpretation_t kind) {
    return __half_raw(__float2half(floatOfFp8(code, kind)));
}
__host__ __device__ inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t codes, __nv_fp8_interpretation_t kind) {
    __half_raw low = __nv_cvt_fp8_to_halfraw((unsigned char)codes, kind);
    __half_raw high = __nv_cvt_fp8_to_halfraw((unsigned char)(codes >> 8), kind);
    return __half2_raw(low.x, high.x);
}
__host__ __device__ inline __nv_fp8_storage_t
__nv_cvt_halfraw_to_fp8(__half_raw number, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__half2float((half)number), saturation, kind);
}
__host__ __device__ inline __nv_fp8_storage_t
__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw number, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    return __nv_cvt_float_to_fp8(__bfloat162float((__nv_bfloat16)number), saturation, kind);
}
__host__ __device__ inline __nv_fp8x2_storage_t
__nv_cvt_halfraw2_to_fp8x2(__half2_raw pair, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    unsigned low = __nv_cvt_halfraw_to_fp8(__half_raw(pair.x), saturation, kind);
    return (unsigned short)(low | (unsigned)__nv_cvt_halfraw_to_fp8(__half_raw(pair.y), saturation, kind) << 8);
}
__host__ __device__ inline __nv_fp8x2_storage_t
__nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw pair, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
    unsigned low = __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw(pair.x), saturation, kind);
    return (unsigned short)(low | (unsigned)__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw(pair.y), saturation, kind) << 8);
}

#define NUMBER_OF_8_BITS(NAME, KIND) \
    struct NAME { \
        __nv_fp8_storage_t __x; \
        NAME() = default; \
        __host__ __device__ NAME(float f) { __x = __nv_cvt_float_to_fp8(f, __NV_SATFINITE, KIND); } \
        __host__ __device__ NAME(double f) { __x = __nv_cvt_float_to_fp8((float)f, __NV_SATFINITE, KIND); } \
        __host__ __device__ NAME(int f) { __x = __nv_cvt_float_to_fp8((float)f, __NV_SATFINITE, KIND); } \
        __host__ __device__ NAME(__half f) { __x = __nv_cvt_float_to_fp8(__half2float(f), __NV_SATFINITE, KIND); } \
        __host__ __device__ NAME(__nv_bfloat16 f) { __x = __nv_cvt_float_to_fp8(__bfloat162float(f), __NV_SATFINITE, KIND); } \
        __host__ __device__ operator float() const { return floatOfFp8(__x, KIND); } \
    };
#define PAIR_OF_8_BITS(NAME, KIND) \
    struct NAME { \
        __nv_fp8x2_storage_t __x; \
        NAME() = default; \
        __host__ __device__ NAME(float2 f) { __x = __nv_cvt_float2_to_fp8x2(f, __NV_SATFINITE, KIND); } \
        __host__ __device__ NAME(__half2 f) { __x = __nv_cvt_float2_to_fp8x2(__half22float2(f), __NV_SATFINITE, KIND); } \
        __host__ __device__ NAME(__nv_bfloat162 f) { \
            __x = __nv_cvt_float2_to_fp8x2(__bfloat1622float2(f), __NV_SATFINITE, KIND); \
        } \
        __host__ __device__ operator float2() const { \
            return make_float2(floatOfFp8((unsigned char)__x, KIND), floatOfFp8((unsigned char)(__x >> 8), KIND)); \
        } \
    };
#define FOUR_OF_8_BITS(NAME, KIND) \
    struct NAME { \
        __nv_fp8x4_storage_t __x; \
        NAME() = default; \
        __host__ __device__ NAME(float4 f) { \
            __x = __nv_cvt_float2_to_fp8x2(make_float2(f.x, f.y), __NV_SATFINITE, KIND) \
                | ((unsigned)__nv_cvt_float2_to_fp8x2(make_float2(f.z, f.w), __NV_SATFINITE, KIND) << 16); \
        } \
        __host__ __device__ NAME(__half2 low, __half2 high) { \
            __x = __nv_cvt_float2_to_fp8x2(__half22float2(low), __NV_SATFINITE, KIND) \
                | ((unsigned)__nv_cvt_float2_to_fp8x2(__half22float2(high), __NV_SATFINITE, KIND) << 16); \
        } \
        __host__ __device__ NAME(__nv_bfloat162 low, __nv_bfloat162 high) { \
            __x = __nv_cvt_float2_to_fp8x2(__bfloat1622float2(low), __NV_SATFINITE, KIND) \
                | ((unsigned)__nv_cvt_float2_to_fp8x2(__bfloat1622float2(high), __NV_SATFINITE, KIND) << 16); \
        } \
        __host__ __device__ operator float4() const { \
            return make_float4( \
                floatOfFp8((unsigned char)__x, KIND), floatOfFp8((unsigned char)(__x >> 8), KIND), \
                floatOfFp8((unsigned char)(__x >> 16), KIND), floatOfFp8((unsigned char)(__x >> 24), KIND) \
            ); \
        } \
    };
NUMBER_OF_8_BITS(__nv_fp8_e4m3, __NV_E4M3)
NUMBER_OF_8_BITS(__nv_fp8_e5m2, __NV_E5M2)
PAIR_OF_8_BITS(__nv_fp8x2_e4m3, __NV_E4M3)
PAIR_OF_8_BITS(__nv_fp8x2_e5m2, __NV_E5M2)
FOUR_OF_8_BITS(__nv_fp8x4_e4m3, __NV_E4M3)
FOUR_OF_8_BITS(__nv_fp8x4_e5m2, __NV_E5M2)
#undef NUMBER_OF_8_BITS
#undef PAIR_OF_8_BITS
#undef FOUR_OF_8_BITS
