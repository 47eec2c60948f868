// Overloads of the user's whose predefined namesakes fit some calls better: those are called, as in C++.
__device__ int max(int a, long b) { return max(a, (int)b) + 100; }
__device__ float min(float a, double b) { return -1; }
__device__ double pow(double a, long b) { return -1; }
__device__ float fmaxf(float a, double b) { return -1; }
__device__ double atomicAdd(double *sum, float v) { return atomicAdd(sum, (double)v); }
__device__ unsigned __umulhi(int a, unsigned b) { return 7; }
template <class T> __device__ T max(T a, T b) { return a > b ? a + 1000 : b + 1000; }
namespace own {
__device__ float fminf(double a, double b) { return 5; }
__device__ float least() { return fminf(1.0f, 2.0f); }
}

// warpsmith: grid=1 block=32 arg sum=double[1]=zeros
__global__ void chosen(double *sum)
{
    int three = 3;
    __assert(max(1, 2) == 2);
    __assert(max(1, 2L) == 102);
    __assert(max((short)1, (short)2) == 1002);
    __assert(max<int>(1, 2) == 1002);
    __assert(min(1.0f, 2.0f) == 1.0f);
    __assert(min(1.0f, 2.0) == -1.0f);
    __assert(pow(2.0, three) == 8.0);
    __assert(pow(2.0, 3L) == -1.0);
    __assert(fmaxf(1.0f, 2.0f) == 2.0f);
    __assert(fmaxf(1.0f, 2.0) == -1.0f);
    __assert(__umulhi(1u << 31, 2u) == 1);
    __assert(__umulhi(1, 2u) == 7);
    __assert(own::least() == 5.0f);
    atomicAdd(sum, 1.0);
    atomicAdd(sum, 1.0f);
    __syncthreads();
    __assert(sum[0] == 64.0);
}
