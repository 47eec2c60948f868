// Defect (kind async): the PTX copies of a lambda are waited for, but another thread's are read without a barrier
// expect: race-shared line=19 array=tile
// expect: status=1
#include <cstdint>

// warpsmith: grid=1 block=32 arg in=float[128]=random arg out=float[32]
__global__ void stage(const float *in, float *out)
{
    __shared__ __align__(16) float tile[128];
    auto load = [&](int t) {
        uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(&tile[t * 4]));
        asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" ::"r"(to), "l"(in + t * 4), "n"(16));
        asm volatile("cp.async.commit_group;\n" ::);
    };
    load(threadIdx.x);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));

    const int other = (31 - threadIdx.x) * 4;
    out[threadIdx.x] = tile[other] + tile[other + 3];
}
