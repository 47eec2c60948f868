// Tables of pointers to functions in memory of the device, in constant memory and in structures.
#include <cstdio>
__device__ int one(int a) { return a + 1; }
__device__ int two(int a) { return a + 2; }
template <typename T> __device__ T three(T a) { return a + 3; }
using Step = int (*)(int);

struct Stage {
    Step step;
    int times;
};

__device__ Step steps[3] = {one, two, three<int>};
__constant__ Step constant_steps[] = {&two, &one};

// warpsmith: grid=2 block=32 arg x=int[64]
__global__ void from_tables(int *x)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Stage stage = {steps[t % 3], 2};
    int v = 0;
    for (int i = 0; i < stage.times; i++) v = stage.step(v);
    v += constant_steps[t & 1](10);
    x[t] = v;
    __assert(v == 2 * (t % 3 + 1) + (t & 1 ? 11 : 12));
}
