// Defect: the store is inline PTX, and the barrier between them is only one of the warp
// expect: race-shared line=10 array=s
// expect: status=1

// warpsmith: grid=1 block=64 arg out=int[64]
__global__ void turned(int *out)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    asm volatile("st.shared.s32 [%0], %1;" ::"l"(&s[t]), "r"(t) : "memory");
    asm volatile("bar.warp.sync %0;" ::"r"(0xffffffff) : "memory");
    out[t] = s[63 - t];
}
