// Inline namespaces, alignment by its other name, and which multiprocessor runs a block.
namespace lib {
inline namespace v2 {
__device__ inline int version() { return 2; }
} // namespace v2
} // namespace lib

struct __builtin_align__(8) Pair {
    float a, b;
};

// warpsmith: grid=4 block=32 arg x=int[128]
__global__ void registers(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned processor, processors;
    asm("mov.u32 %0, %%smid;" : "=r"(processor));
    asm("mov.u32 %0, %%nsmid;" : "=r"(processors));
    __assert(processor < processors);
    Pair p = {1.0f, 2.0f};
    x[i] = lib::version() + lib::v2::version() + (int)p.b;
    __assert(x[i] == 6 && alignof(Pair) == 8);
}
