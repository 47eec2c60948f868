// Instructions of PTX that are not known
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x) {
    int a;
    asm volatile("vset4.s32.s32.lt %0, %1, %2, %3;" : "=r"(a) : "r"(x[threadIdx.x]), "r"(1), "r"(0));
    x[threadIdx.x] = a;
}
