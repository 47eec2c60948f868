// Sums, products, quotients, roots and conversions that are rounded up, down and to zero.
// warpsmith: grid=1 block=64 arg a=float[64]=random arg b=float[64]=random
__global__ void brackets(float *a, float *b)
{
    int t = threadIdx.x;
    float x = fabsf(a[t]), y = b[t] - 0.5f, z = x * 3.0f - 1.0f;
    double exact = (double)x + y;
    __assert(__fadd_rd(x, y) <= exact && exact <= __fadd_ru(x, y));
    __assert(__fadd_ru(x, y) <= nextafterf(__fadd_rd(x, y), INFINITY));
    exact = (double)x - y;
    __assert(__fsub_rd(x, y) <= exact && exact <= __fsub_ru(x, y) && fabs((double)__fsub_rz(x, y)) <= fabs(exact));
    exact = (double)x * y;
    __assert(__fmul_rd(x, y) <= exact && exact <= __fmul_ru(x, y) && fabs((double)__fmul_rz(x, y)) <= fabs(exact));
    exact = (double)x * y + z;
    __assert(__fmaf_rd(x, y, z) <= exact + 1e-14 && exact - 1e-14 <= __fmaf_ru(x, y, z));
    exact = (double)x / (y + 2.0f);
    __assert(__fdiv_rd(x, y + 2.0f) <= exact + 1e-14 && exact - 1e-14 <= __fdiv_ru(x, y + 2.0f));
    float root = __fsqrt_rd(x);
    __assert((double)root * root <= x);
    root = __fsqrt_ru(x);
    __assert((double)root * root >= x);
    double dx = x * 0.1, dy = y * 0.7;
    __assert(__dadd_rd(dx, dy) <= __dadd_ru(dx, dy) && __dmul_rd(dx, dy) <= dx * dy && dx * dy <= __dmul_ru(dx, dy));
    __assert(__fma_rd(dx, dy, 1.0) <= fma(dx, dy, 1.0) && fma(dx, dy, 1.0) <= __fma_ru(dx, dy, 1.0));
    __assert(__double2float_rd(dx) <= dx && dx <= __double2float_ru(dx));
}

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void known_values(float *x)
{
    const float tiny = 1e-30f, most = 3.402823466e38f;
    __assert(__fadd_rd(1.0f, tiny) == 1.0f && __fadd_ru(1.0f, tiny) == 1.00000011920928955078125f);
    __assert(__fadd_rd(1.0f, -tiny) == 0.999999940395355224609375f && __fadd_rz(1.0f, -tiny) == 0.999999940395355224609375f);
    __assert(__fadd_rz(-1.0f, -tiny) == -1.0f && __fadd_rd(-1.0f, -tiny) == -1.00000011920928955078125f);
    __assert(__fmul_ru(0.1f, 0.1f) > __fmul_rd(0.1f, 0.1f));
    __assert(__fadd_rd(most, most) == most && isinf(__fadd_ru(most, most)) && __fadd_rz(-most, -most) == -most);
    __assert(signbit(__fadd_rd(1.0f, -1.0f)) && !signbit(__fadd_ru(1.0f, -1.0f)));
    __assert(__fdiv_rd(1.0f, 4.0f) == 0.25f && __fdiv_ru(1.0f, 4.0f) == 0.25f && __frcp_rd(3.0f) < __frcp_ru(3.0f));
    __assert(__fsqrt_rd(4.0f) == 2.0f && __dsqrt_ru(2.0) > __dsqrt_rd(2.0) && __ddiv_rd(1.0, 3.0) < __ddiv_ru(1.0, 3.0));
    __assert(__int2float_rd(16777217) == 16777216.0f && __int2float_ru(16777217) == 16777218.0f);
    __assert(__ll2float_rz(-16777217ll) == -16777216.0f && __ull2double_ru(9007199254740993ull) == 9007199254740994.0);
    x[threadIdx.x] = __fadd_rd(x[threadIdx.x], 0.0f);
}
