// Pairs and fours of numbers of 8 bits, made of pairs of halves and of brain floats: what comes first is lowest.
#include <cassert>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
// warpsmith: grid=1 block=32 arg x=float[128]=iota
__global__ void packed(float *x)
{
    float *mine = x + 4 * threadIdx.x;
    __half2 low = __floats2half2_rn(mine[0], mine[1]), high = __floats2half2_rn(mine[2], mine[3]);
    __nv_bfloat162 first = __floats2bfloat162_rn(1.0f, -2.0f), second = __floats2bfloat162_rn(448.0f, 19.0f);
    float4 of_halves = float4(__nv_fp8x4_e4m3(low, high));
    assert(of_halves.x == float(__nv_fp8_e4m3(mine[0])) && of_halves.w == float(__nv_fp8_e4m3(mine[3])));
    float4 of_brains = float4(__nv_fp8x4_e4m3(first, second));
    assert(of_brains.x == 1.0f && of_brains.y == -2.0f && of_brains.z == 448.0f && of_brains.w == 20.0f);
    float2 pair = float2(__nv_fp8x2_e5m2(first)), other = float2(__nv_fp8x2_e4m3(low));
    assert(pair.x == 1.0f && pair.y == -2.0f && other.y == float(__nv_fp8_e4m3(mine[1])));
    mine[0] = of_halves.x + pair.y;
}
