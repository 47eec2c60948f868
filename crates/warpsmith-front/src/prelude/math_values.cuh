// Functions of mathematics as values: `float (*f)(float) = &sinf`, `apply(x, cos)`.
#define OF_ONE(name)                                                                                                   \
    __host__ __device__ inline double valueOf_##name(double x) { return name(x); }                                     \
    __host__ __device__ inline float valueOf_##name(float x) { return name##f(x); }                                    \
    __host__ __device__ inline float valueOf_##name##f(float x) { return name##f(x); }
#define OF_TWO(name)                                                                                                   \
    __host__ __device__ inline double valueOf_##name(double x, double y) { return name(x, y); }                        \
    __host__ __device__ inline float valueOf_##name(float x, float y) { return name##f(x, y); }                        \
    __host__ __device__ inline float valueOf_##name##f(float x, float y) { return name##f(x, y); }
#define FAST(name) __device__ inline float valueOf_##name(float x) { return name(x); }
OF_ONE(sin) OF_ONE(cos) OF_ONE(tan) OF_ONE(asin) OF_ONE(acos) OF_ONE(atan) OF_ONE(sinh) OF_ONE(cosh) OF_ONE(tanh)
OF_ONE(asinh) OF_ONE(acosh) OF_ONE(atanh) OF_ONE(exp) OF_ONE(exp2) OF_ONE(exp10) OF_ONE(expm1) OF_ONE(log)
OF_ONE(log2) OF_ONE(log10) OF_ONE(log1p) OF_ONE(sqrt) OF_ONE(rsqrt) OF_ONE(cbrt) OF_ONE(ceil) OF_ONE(floor)
OF_ONE(trunc) OF_ONE(round) OF_ONE(rint) OF_ONE(nearbyint) OF_ONE(fabs) OF_ONE(erf) OF_ONE(erfc) OF_ONE(erfinv)
OF_ONE(tgamma) OF_ONE(lgamma) OF_ONE(normcdf) OF_ONE(sinpi) OF_ONE(cospi)
OF_TWO(pow) OF_TWO(fmod) OF_TWO(atan2) OF_TWO(fmax) OF_TWO(fmin) OF_TWO(hypot) OF_TWO(fdim) OF_TWO(copysign)
OF_TWO(remainder)
FAST(__sinf) FAST(__cosf) FAST(__tanf) FAST(__expf) FAST(__exp10f) FAST(__logf) FAST(__log2f) FAST(__log10f)
FAST(__saturatef)
__device__ inline float valueOf___powf(float x, float y) { return __powf(x, y); }
__device__ inline float valueOf___fdividef(float x, float y) { return __fdividef(x, y); }
__host__ __device__ inline int valueOf_abs(int x) { return abs(x); }
#undef OF_ONE
#undef OF_TWO
#undef FAST
