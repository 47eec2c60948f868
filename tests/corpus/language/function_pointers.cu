// Pointers to device functions: variables, parameters, comparison with null, choice of one by a condition.
typedef float (*Operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ int twice(int a) { return 2 * a; }
__device__ float twice(float a) { return 2.0f * a; }

__device__ float apply(float (*f)(float, float), float a, float b) { return f ? (*f)(a, b) : a; }

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void through_pointers(float *x)
{
    int t = threadIdx.x;
    Operation f = t & 1 ? add : multiply;
    Operation none = nullptr;
    float v = x[t];
    float (*overloaded)(float) = &twice;
    x[t] = apply(f, v, 3.0f) + overloaded(1.0f);
    __assert(x[t] == (f == add ? v + 3.0f : v * 3.0f) + 2.0f);
    __assert(apply(none, 5.0f, 1.0f) == 5.0f && f != none);
}
