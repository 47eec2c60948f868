// Arithmetic with directed rounding: the nearest number, moved by one where the sign of its error says so. Errors are exact: of
// sums by Knuth's two-sum, of products by a fused multiply-add, of quotients and roots by their remainders.
__device__ inline float oneUp(float x) { return nextafterf(x, INFINITY); }
__device__ inline double oneUp(double x) { return nextafter(x, (double)INFINITY); }
__device__ inline float oneDown(float x) { return nextafterf(x, -INFINITY); }
__device__ inline double oneDown(double x) { return nextafter(x, -(double)INFINITY); }
// `error` is what is exact less what is nearest; a finite result beyond the largest number lies below infinity.
template <typename T> __device__ inline T roundedDown(T nearest, double error, bool finite) {
    if (isinf(nearest)) return finite && nearest > 0 ? oneDown(nearest) : nearest;
    return error < 0 ? oneDown(nearest) : nearest;
}
template <typename T> __device__ inline T roundedUp(T nearest, double error, bool finite) {
    if (isinf(nearest)) return finite && nearest < 0 ? oneUp(nearest) : nearest;
    return error > 0 ? oneUp(nearest) : nearest;
}
template <typename T> __device__ inline T roundedToZero(T nearest, double error, bool finite) {
    if (nearest == 0) return nearest;
    return nearest > 0 ? roundedDown(nearest, error, finite) : roundedUp(nearest, error, finite);
}
template <typename T> __device__ inline T errorOfSum(T a, T b, T sum) {
    T part = sum - a;
    return (a - (sum - part)) + (b - part);
}
// A zero that is the sum of opposite numbers is negative when rounded down.
template <typename T> __device__ inline T signedZero(T a, T b, T sum, bool down) {
    return sum == 0 && down && (a != 0 || signbit(a) != signbit(b)) ? -sum * (signbit(sum) ? -1 : 1) : sum;
}
__device__ inline double errorOfProduct(float a, float b, float p) { return (double)a * b - (double)p; }
__device__ inline double errorOfProduct(double a, double b, double p) { return fma(a, b, -p); }
__device__ inline double errorOfQuotient(float a, float b, float q) { return fma(-(double)q, (double)b, (double)a) * (b < 0 ? -1 : 1); }
__device__ inline double errorOfQuotient(double a, double b, double q) { return fma(-q, b, a) * (b < 0 ? -1 : 1); }
__device__ inline double errorOfRoot(float x, float root) { return (double)x - (double)root * root; }
__device__ inline double errorOfRoot(double x, double root) { return fma(-root, root, x); }
__device__ inline double errorOfFused(float a, float b, float c, float r) {
    double p = (double)a * b, sum = p + c, rest = errorOfSum(p, (double)c, sum), off = sum - (double)r;
    return off != 0 ? off : rest;
}
// Boldo and Muller, "Exact and approximated error of the FMA" (2011).
__device__ inline double errorOfFused(double a, double b, double c, double r) {
    double high = a * b, low = fma(a, b, -high);
    double upper = c + low, lost = errorOfSum(c, low, upper);
    double top = high + upper, under = errorOfSum(high, upper, top);
    double left = (top - r) + under;
    return left != 0 ? left : lost;
}
#define WS_DIRECTED(MODE, ROUND, DOWN) \
    __device__ inline float __fadd_##MODE(float a, float b) { float s = a + b; return signedZero(a, b, ROUND(s, errorOfSum(a, b, s), isfinite(a) && isfinite(b)), DOWN); } \
    __device__ inline float __fsub_##MODE(float a, float b) { return __fadd_##MODE(a, -b); } \
    __device__ inline float __fmul_##MODE(float a, float b) { float p = a * b; return ROUND(p, errorOfProduct(a, b, p), isfinite(a) && isfinite(b)); } \
    __device__ inline float __fdiv_##MODE(float a, float b) { float q = a / b; return ROUND(q, errorOfQuotient(a, b, q), isfinite(a) && b != 0); } \
    __device__ inline float __frcp_##MODE(float x) { return __fdiv_##MODE(1.0f, x); } \
    __device__ inline float __fsqrt_##MODE(float x) { float r = sqrtf(x); return ROUND(r, errorOfRoot(x, r), false); } \
    __device__ inline float __fmaf_##MODE(float a, float b, float c) { float r = fmaf(a, b, c); return ROUND(r, errorOfFused(a, b, c, r), isfinite(a) && isfinite(b) && isfinite(c)); } \
    __device__ inline double __dadd_##MODE(double a, double b) { double s = a + b; return signedZero(a, b, ROUND(s, errorOfSum(a, b, s), isfinite(a) && isfinite(b)), DOWN); } \
    __device__ inline double __dsub_##MODE(double a, double b) { return __dadd_##MODE(a, -b); } \
    __device__ inline double __dmul_##MODE(double a, double b) { double p = a * b; return ROUND(p, errorOfProduct(a, b, p), isfinite(a) && isfinite(b)); } \
    __device__ inline double __ddiv_##MODE(double a, double b) { double q = a / b; return ROUND(q, errorOfQuotient(a, b, q), isfinite(a) && b != 0); } \
    __device__ inline double __drcp_##MODE(double x) { return __ddiv_##MODE(1.0, x); } \
    __device__ inline double __dsqrt_##MODE(double x) { double r = sqrt(x); return ROUND(r, errorOfRoot(x, r), false); } \
    __device__ inline double __fma_##MODE(double a, double b, double c) { double r = fma(a, b, c); return ROUND(r, errorOfFused(a, b, c, r), isfinite(a) && isfinite(b) && isfinite(c)); } \
    __device__ inline float __double2float_##MODE(double x) { float f = (float)x; return ROUND(f, x - (double)f, isfinite(x)); } \
    __device__ inline float __int2float_##MODE(int x) { float f = (float)x; return ROUND(f, (double)x - (double)f, true); } \
    __device__ inline float __uint2float_##MODE(unsigned x) { float f = (float)x; return ROUND(f, (double)x - (double)f, true); } \
    __device__ inline float __ll2float_##MODE(long long x) { float f = (float)x; return ROUND(f, f >= 9223372036854775808.0f ? -1.0 : (double)(x - (long long)f), true); } \
    __device__ inline float __ull2float_##MODE(unsigned long long x) { float f = (float)x; return ROUND(f, f >= 18446744073709551616.0f ? -1.0 : (double)(long long)(x - (unsigned long long)f), true); } \
    __device__ inline double __ll2double_##MODE(long long x) { double f = (double)x; return ROUND(f, f >= 9223372036854775808.0 ? -1.0 : (double)(x - (long long)f), true); } \
    __device__ inline double __ull2double_##MODE(unsigned long long x) { double f = (double)x; return ROUND(f, f >= 18446744073709551616.0 ? -1.0 : (double)(long long)(x - (unsigned long long)f), true); }
WS_DIRECTED(rd, roundedDown, true)
WS_DIRECTED(ru, roundedUp, false)
WS_DIRECTED(rz, roundedToZero, false)
#undef WS_DIRECTED

