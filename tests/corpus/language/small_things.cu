// What is small and stands in many files: addresses of parts of constant arrays, null arms, arrays of structures that decay,
// large arrays of a thread, words for operators in the preprocessor, a header that nothing is needed of.
#if not defined(COUNT) and !defined(OTHER)
#define COUNT 64
#endif
#include "helpers_of_another_project.h"

struct Point {
    float x, y;
};

__constant__ float table[3000];
__constant__ Point corners[2] = {{1.0f, 2.0f}, {3.0f, 4.0f}};

__device__ float first_of(const float *c, int i) { return c[i]; }
__device__ float sum(const Point *p, int n)
{
    float s = 0.0f;
    for (int i = 0; i < n; i++) s += p[i].x + p[i].y;
    return s;
}

// warpsmith: grid=1 block=64 arg x=float[64] arg mask=float[64]=iota arg table=float[3000]=iota arg n=10
__global__ void small_things(float *x, const float *mask, int n)
{
    int i = threadIdx.x;
    const float *chosen = n > 5 ? mask : nullptr;
    const float *none = n > 500 ? mask : NULL;
    float large[3000];
    for (int j = 0; j < 3000; j += 100) large[j] = j;
    Point own[4];
    for (int j = 0; j < 4; j++) own[j] = {1.0f, 2.0f};
    x[i] = first_of(&table[0], i) + *(&table[2] + 1) + sum(own, 4) + sum(&corners[1], 1) + large[100 * (i % 30)];
    __assert(x[i] == i + 3.0f + 12.0f + 7.0f + 100.0f * (i % 30));
    if (chosen) x[i] += chosen[i];
    if (none != nullptr) x[i] = none[i];
}
