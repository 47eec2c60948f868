// Defect: the barrier expects more bytes than the copy brings
// expect: infinite-loop line=17
// expect: status=1
#include <cuda/ptx>
namespace ptx = cuda::ptx;
// warpsmith: grid=1 block=32 arg x=float[64] arg y=float[64]=zeros
__global__ void too_few(const float *x, float *y)
{
    __shared__ alignas(128) float tile[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, 128, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
    y[threadIdx.x] = tile[threadIdx.x];
}
