// Defect: a warp loads matrices that other warps are still writing
// expect: race-shared line=11 array=tile
// expect: status=1
#include <cuda_fp16.h>
#include <cstdint>
// warpsmith: grid=1 block=64 arg x=half[256] arg y=uint[256]=zeros
__global__ void early(const half *x, unsigned *y)
{
    __shared__ alignas(16) half tile[16][16];
    int t = threadIdx.x;
    for (int i = t; i < 256; i += 64) tile[i / 16][i % 16] = x[i];
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&tile[t % 16][t / 16 % 2 * 8]), r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));
    for (int i = 0; i < 4; i++) y[t * 4 + i] = r[i];
}
