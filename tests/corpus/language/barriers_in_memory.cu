// mbarrier in inline PTX: arrivals and waits by parity, tokens, bytes that are counted, copies that arrive.
#include <cstdint>
__device__ inline uint32_t smem(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ inline void init(uint64_t *bar, int count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(smem(bar)), "r"(count));
}
__device__ inline void arrive(uint64_t *bar)
{
    asm volatile("{\n .reg .b64 state;\n mbarrier.arrive.shared::cta.b64 state, [%0];\n}" :: "r"(smem(bar)) : "memory");
}
__device__ inline void wait(uint64_t *bar, int parity)
{
    asm volatile(
        "{\n"
        ".reg .pred P1;\n"
        "LAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
        "@P1 bra.uni DONE;\n"
        "bra.uni LAB_WAIT;\n"
        "DONE:\n"
        "}\n" :: "r"(smem(bar)), "r"(parity) : "memory");
}
// warpsmith: grid=2 block=64 arg x=float[512] arg y=float[512]=zeros
__global__ void producers_and_consumers(const float *x, float *y)
{
    __shared__ float tile[2][32];
    __shared__ uint64_t full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; s++) {
            init(&full[s], 32);
            init(&empty[s], 32);
        }
    }
    __syncthreads();
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 8; i++) {
        int s = i % 2, phase = i / 2 % 2;
        if (threadIdx.x < 32) {
            wait(&empty[s], phase ^ 1);
            tile[s][lane] = x[blockIdx.x * 256 + i * 32 + lane];
            arrive(&full[s]);
        } else {
            wait(&full[s], phase);
            y[blockIdx.x * 256 + i * 32 + lane] = tile[s][31 - lane];
            arrive(&empty[s]);
        }
    }
}
// warpsmith: grid=1 block=64 arg x=float[64] arg y=float[64]=zeros
__global__ void bulk_copy(const float *x, float *y)
{
    __shared__ alignas(16) float tile[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(smem(&bar)), "r"((int)sizeof(tile)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                     :: "r"(smem(tile)), "l"(x), "r"((int)sizeof(tile)), "r"(smem(&bar)) : "memory");
    }
    wait(&bar, 0);
    y[threadIdx.x] = tile[63 - threadIdx.x];
    __assert(y[threadIdx.x] == x[63 - threadIdx.x]);
}
// warpsmith: grid=1 block=32 arg x=float[32] arg y=float[32]=zeros
__global__ void copies_that_arrive(const float *x, float *y)
{
    __shared__ float tile[32];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) init(&bar, 32);
    __syncwarp();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(smem(&tile[threadIdx.x])), "l"(&x[threadIdx.x]));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(smem(&bar)));
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(smem(&bar)) : "memory");
    y[threadIdx.x] = tile[threadIdx.x ^ 1];
}
