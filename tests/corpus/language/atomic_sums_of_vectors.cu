// Vectors of float that are added part by part, as devices of compute capability 9.0 do in global memory.
#include <cassert>

// warpsmith: run add_pairs, look_at_pairs
// warpsmith: grid=2 block=32 arg pairs=float[8]=zeros arg quads=float[16]=zeros
__global__ void add_pairs(float2 *pairs, float4 *quads)
{
    int i = threadIdx.x % 4;
    float2 old = atomicAdd(&pairs[i], make_float2(1.0f, 2.0f));
    assert(old.x >= 0 && old.x < 16 && old.y >= 0);
    atomicAdd(quads + i, make_float4(1.0f, 2.0f, 3.0f, threadIdx.x < 4 ? 4.0f : 0.0f));
}

// warpsmith: grid=1 block=4 arg pairs=float[8] arg quads=float[16]
__global__ void look_at_pairs(const float2 *pairs, const float4 *quads)
{
    assert(pairs[threadIdx.x].x == 16 && pairs[threadIdx.x].y == 32);
    assert(quads[threadIdx.x].z == 48 && quads[threadIdx.x].w == 8);
}
