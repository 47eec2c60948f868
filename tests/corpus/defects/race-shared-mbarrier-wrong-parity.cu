// Defect: the consumer waits for the wrong parity, so that the first phase counts as over before anyone has arrived
// expect: race-shared line=18 array=tile
// expect: uninitialized-shared line=16 array=tile
// expect: status=1
#include <cstdint>
__device__ inline uint32_t smem(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
// warpsmith: grid=1 block=64 arg x=float[32] arg y=float[32]=zeros
__global__ void hand_over(const float *x, float *y)
{
    __shared__ float tile[32];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(smem(&full)));
    __syncthreads();
    if (threadIdx.x >= 32) {
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 1; @!p bra W; }" :: "r"(smem(&full)) : "memory");
        y[threadIdx.x - 32] = tile[63 - threadIdx.x];
    } else {
        tile[threadIdx.x] = x[threadIdx.x];
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(smem(&full)) : "memory");
    }
}
