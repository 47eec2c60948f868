// Special functions, by quadrature and by Newton's method: right to the precision of their type, not fast.
__host__ __device__ inline double normcdfinv(double p) {
    if (!(p > 0.0)) return p == 0.0 ? -INFINITY : NAN;
    if (!(p < 1.0)) return p == 1.0 ? INFINITY : NAN;
    // A first guess from the tails, then steps of Newton's method on the smaller tail.
    double q = p < 0.5 ? p : 1.0 - p, t = sqrt(-2.0 * log(q));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 4; i++) {
        double tail = 0.5 * erfc(x * 0.70710678118654752440), density = exp(-0.5 * x * x) * 0.39894228040143267794;
        double step = (tail - q) / density;
        x += step / (1.0 - 0.5 * x * step);
    }
    return p < 0.5 ? -x : x;
}
__host__ __device__ inline double erfcinv(double x) { return -normcdfinv(0.5 * x) * 0.70710678118654752440; }
__host__ __device__ inline double erfinv(double x) {
    if (!(fabs(x) < 0.9)) return x < 0.0 ? -erfcinv(1.0 + x) : erfcinv(1.0 - x);
    double y = 0.88622692545275801365 * x * (1.0 + 0.2617993877991494 * x * x);
    for (int i = 0; i < 6; i++) y -= (erf(y) - x) * 0.88622692545275801365 * exp(y * y);
    return y;
}
__host__ __device__ inline double erfcx(double x) {
    if (x < 20.0) return exp(x * x) * erfc(x);
    double u = 0.5 / (x * x);
    return 0.56418958354775628695 / x * (1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u)));
}
// The integrands are periodic, so that the trapezoidal rule is exact but for rounding once it has points enough.
__host__ __device__ inline double jn(int n, double x) {
    int points = 32 + 2 * abs(n) + (int)(2.0 * fmin(fabs(x), 100000.0));
    double sum = 0.0, step = 6.28318530717958647693 / points;
    for (int i = 0; i < points; i++) sum += cos(n * (i * step) - x * sin(i * step));
    return sum / points;
}
__host__ __device__ inline double besselOfImaginary(int n, double x) {
    int points = 64 + (int)fmin(fabs(x), 1000.0);
    double sum = 0.0, step = 6.28318530717958647693 / points;
    for (int i = 0; i < points; i++) sum += exp(x * cos(i * step)) * cos(n * (i * step));
    return sum / points;
}
__host__ __device__ inline double j0(double x) { return jn(0, x); }
__host__ __device__ inline double j1(double x) { return jn(1, x); }
__host__ __device__ inline double cyl_bessel_i0(double x) { return besselOfImaginary(0, x); }
__host__ __device__ inline double cyl_bessel_i1(double x) { return besselOfImaginary(1, x); }
__host__ __device__ inline float normcdfinvf(float p) { return (float)normcdfinv((double)p); }
__host__ __device__ inline float erfcinvf(float x) { return (float)erfcinv((double)x); }
__host__ __device__ inline float erfinvf(float x) { return (float)erfinv((double)x); }
__host__ __device__ inline float erfcxf(float x) { return (float)erfcx((double)x); }
__host__ __device__ inline float jnf(int n, float x) { return (float)jn(n, (double)x); }
__host__ __device__ inline float j0f(float x) { return (float)jn(0, (double)x); }
__host__ __device__ inline float j1f(float x) { return (float)jn(1, (double)x); }
__host__ __device__ inline float cyl_bessel_i0f(float x) { return (float)besselOfImaginary(0, (double)x); }
__host__ __device__ inline float cyl_bessel_i1f(float x) { return (float)besselOfImaginary(1, (double)x); }

// Exponents, as powers of two.
__host__ __device__ inline int ilogb(double x) {
    if (x == 0.0 || x != x) return -2147483647 - 1;
    if (x - x != 0.0) return 2147483647;
    int e;
    frexp(x, &e);
    return e - 1;
}
__host__ __device__ inline double logb(double x) {
    if (x == 0.0) return -INFINITY;
    return x - x != 0.0 ? x * x : (double)ilogb(x);
}
__host__ __device__ inline int ilogbf(float x) { return ilogb((double)x); }
__host__ __device__ inline float logbf(float x) { return (float)logb((double)x); }
// Of the quotient the sign and the lowest three bits are there, as C asks for.
__host__ __device__ inline double remquo(double x, double y, int *quotient) {
    double r = remainder(x, y), q = rint((x - r) / y);
    int low = (int)fmod(fabs(q), 8.0);
    *quotient = q < 0.0 ? -low : low;
    return r;
}
__host__ __device__ inline float remquof(float x, float y, int *quotient) {
    return (float)remquo((double)x, (double)y, quotient);
}
// The place of the set bit that is so many set bits from a place on, itself included; backwards where that is negative.
__device__ inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    if (offset == 0) return (mask >> base & 1u) != 0u ? base : 0xffffffffu;
    int left = offset > 0 ? offset : -offset;
    for (int at = (int)base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
        if ((mask >> at & 1u) != 0u && --left == 0) return (unsigned)at;
    return 0xffffffffu;
}
// Two halves of a word times two bytes of another.
__device__ inline int __dp2a_lo(int a, int b, int c) { return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8); }
__device__ inline int __dp2a_hi(int a, int b, int c) { return __dp2a_lo(a, b >> 16, c); }
__device__ inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
    return c + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * (b >> 8 & 0xffu);
}
__device__ inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) { return __dp2a_lo(a, b >> 16, c); }
// Helpers of GPUVerify's annotations.
template <typename T> __device__ bool __is_pow2(T x) { return (x & (x - 1)) == 0; }
template <typename T> __device__ T __mod_pow2(T x, T y) { return (y - 1) & x; }
// The text of a NaN is a number of the implementation's choice: none is kept.
__host__ __device__ inline float nanf(const char *) { return NAN; }
__host__ __device__ inline double nan(const char *) { return NAN; }
