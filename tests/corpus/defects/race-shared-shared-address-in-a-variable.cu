// Defect: the store goes through an address of 32 bits that is computed with, and no barrier follows
// expect: race-shared line=12 array=s
// expect: status=1
#include <cstdint>
// warpsmith: grid=1 block=64 arg y=int[64]=zeros
__global__ void by_address(int *y)
{
    __shared__ int s[64];
    uint32_t at;
    asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }" : "=r"(at) : "l"(s));
    at += threadIdx.x * 4;
    asm volatile("st.shared.s32 [%0], %1;" :: "r"(at), "r"((int)threadIdx.x) : "memory");
    y[threadIdx.x] = s[63 - threadIdx.x];
}
