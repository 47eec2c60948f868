// Orders and scopes in inline PTX, between two blocks.
// warpsmith: grid=2 block=32 arg data=int[1]=zeros arg flag=int[1]=zeros arg out=int[1]=zeros
__device__ void put(int *p, int v) { asm volatile("st.release.gpu.global.s32 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }
__device__ int get(int *p)
{
    int v;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
__global__ void through_ptx(int *data, int *flag, int *out)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        *data = 2;
        put(flag, 1);
    } else {
        while (get(flag) == 0) {}
        *out = *data;
    }
}
