// Defect: the producer refills a slot without waiting until the consumer has given it back
// expect: race-shared line=17 array=slot
// expect: status=1
#include <cuda/ptx>
namespace ptx = cuda::ptx;
// warpsmith: grid=1 block=64 arg x=float[128] arg y=float[128]=zeros
__global__ void refilled(const float *x, float *y)
{
    __shared__ float slot[32];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) ptx::mbarrier_init(&full, 32);
    __syncthreads();
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 32) {
            if (i > 0) while (!ptx::mbarrier_try_wait_parity(&full, (i - 1) & 1)) {}
            slot[lane] = x[i * 32 + lane];
            ptx::mbarrier_arrive(&full);
        } else {
            while (!ptx::mbarrier_try_wait_parity(&full, i & 1)) {}
            y[i * 32 + lane] = slot[lane];
        }
    }
}
