// References to arrays: variables, parameters, members that lists bind, and results.
#include <cassert>

template <typename T> struct Tile {
    T (&at)[8][9];
    int row;
    __device__ T &operator()(int i, int j) { return at[(i + row) % 8][j]; }
};

struct Bound {
    int &r;
    const float *p = nullptr;
};

struct Box {
    float d[4];
    __device__ float (&all())[4] { return d; }
};

__device__ void fill(float (&m)[2][4], float v)
{
    for (auto &row : m)
        for (float &x : row) x = v;
}

template <int N> __device__ float sum(const float (&v)[N])
{
    float s = 0;
    for (float x : v) s += x;
    return s;
}

// warpsmith: grid=1 block=32 arg in=float[4][8]=iota arg out=float[32]
__global__ void rows(float (*in)[8], float *out)
{
    float m[2][4];
    fill(m, 2.0f);
    float (&row)[4] = m[1];
    row[2] = 5.0f;
    assert(m[1][2] == 5 && sum(row) == 11 && sizeof(row) == 16);
    const float (&input)[8] = in[threadIdx.x % 4];
    assert(input[3] == threadIdx.x % 4 * 8 + 3);
    using Line = float[4];
    Line &line = m[0];
    line[0] = 1;
    Box b{};
    b.all()[1] = 3;
    auto &all = b.all();
    float (&whole)[2][4] = m;
    assert(all[1] == 3 && sum(line) == 7 && whole[1][2] == 5);
    __shared__ float two[2][32];
    float (&mine)[32] = two[threadIdx.x & 1];
    mine[threadIdx.x] = row[0];
    out[threadIdx.x] = two[threadIdx.x & 1][threadIdx.x];
}

// warpsmith: grid=1 block=8,8 arg out=int[64]
__global__ void members(int *out)
{
    __shared__ int tile[8][9];
    Tile<int> t{tile, 2}, u = {.at = tile, .row = 3};
    t(threadIdx.y, threadIdx.x) = 8 * threadIdx.y + threadIdx.x;
    __syncthreads();
    out[8 * threadIdx.y + threadIdx.x] = u(threadIdx.x, threadIdx.y);
    int n = 1;
    Bound b{n}, c = {n, nullptr};
    b.r = 4;
    assert(n == 4);
    c.r++;
    assert(n == 5 && tile[(threadIdx.y + 2) % 8][threadIdx.x] == 8 * threadIdx.y + threadIdx.x);
}
