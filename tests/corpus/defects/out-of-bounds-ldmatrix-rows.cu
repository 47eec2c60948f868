// Defect: four matrices are loaded where the tile has rows for two
// expect: out-of-bounds line=13 array=tile
// expect: status=1
#include <cuda_fp16.h>
#include <cstdint>
// warpsmith: grid=1 block=32 arg y=uint[128]=zeros
__global__ void too_many(unsigned *y)
{
    __shared__ alignas(16) half tile[16][8];
    for (int i = threadIdx.x; i < 128; i += 32) tile[i / 8][i % 8] = __float2half(1.0f * i);
    __syncwarp();
    uint32_t at = (uint32_t)__cvta_generic_to_shared(tile) + threadIdx.x * 16, r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    for (int i = 0; i < 4; i++) y[threadIdx.x * 4 + i] = r[i];
}
