// Defect: rows of a tile of 12 halves do not begin at multiples of 16 bytes, which ldmatrix needs
// expect: misaligned line=13 array=tile
// expect: status=1
#include <cuda_fp16.h>
#include <cstdint>
// warpsmith: grid=1 block=32 arg y=uint[32]=zeros
__global__ void narrow_rows(unsigned *y)
{
    __shared__ alignas(16) half tile[8][12];
    for (int i = threadIdx.x; i < 96; i += 32) tile[i / 12][i % 12] = __float2half(1.0f * i);
    __syncwarp();
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&tile[threadIdx.x % 8][0]), r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at));
    y[threadIdx.x] = r;
}
