// Arrays that are templates of variables, and their elements: `table<T>[i]` is no comparison.
#include <assert.h>
template <typename T>
__constant__ T table [4] = {1, 2, 3, 4};

template <typename T> struct Pair { T a, b; };

template <typename T>
__device__ T neighbours(int i)
{
    return table<T>[i] * table<T>[i + 1];
}

// warpsmith: grid=1 block=3 arg o=float[3]=zeros
__global__ void products(float *o)
{
    const int i = threadIdx.x, table2 = 3;
    Pair<int> *two = new Pair<int>[2];
    two[1].b = i < table2 && table2 > i;
    o[i] = two[1].b * (neighbours<float>(i) + neighbours<int>(i));
    assert(o[i] == 2 * (i + 1) * (i + 2));
    delete[] two;
}
