// Words for operators, in conditions of the preprocessor too.
#if not defined(USE_DOUBLE) and !defined USE_HALF
typedef float real;
#else
typedef double real;
#endif

// warpsmith: grid=1 block=32 arg x=float[32] arg n=5
__global__ void words(real *x, int n)
{
    int i = threadIdx.x;
    if (i < 16 and not(n == 4) or i == 20) x[i] = 1;
    __assert(sizeof(real) == 4);
}
