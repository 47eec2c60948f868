// Specialisations that only their result tells apart, and extents that are computed of several template arguments.
#include <cassert>
template <class T> __device__ T all(int) { return 0; }
template <> __device__ int all(int v) { return v; }
template <> __device__ int2 all(int v) { return make_int2(v, v); }
template <> __device__ int4 all(int v) { return make_int4(v, v, v, v); }

template <int ROWS, int COLUMNS, typename T>
__device__ void fill(T (&tile)[ROWS * COLUMNS], const T *from)
{
    for (int r = 0; r < ROWS; r++) tile[r * COLUMNS + threadIdx.x] = from[r * COLUMNS + threadIdx.x];
}

// warpsmith: grid=1 block=32 arg a=int[128]=iota arg b=int[128]
__global__ void by_result_and_extent(const int *a, int *b)
{
    __shared__ int tile[2][32 * 4];
    fill<4, 32>(tile[1], a);
    __syncthreads();
    int2 two = all<int2>(3);
    assert(two.x == 3 && two.y == 3 && all<int4>(5).w == 5 && all<int>(7) == 7 && all<float>(9) == 0);
    for (int r = 0; r < 4; r++) b[r * 32 + threadIdx.x] = tile[1][r * 32 + 31 - threadIdx.x] + two.x;
}
