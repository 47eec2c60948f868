// Defect: what a bulk copy brings is read without waiting for the barrier that counts its bytes
// expect: race-shared line=14 array=tile
// expect: status=1
#include <cuda/ptx>
namespace ptx = cuda::ptx;
// warpsmith: grid=1 block=64 arg x=float[64] arg y=float[64]=zeros
__global__ void early(const float *x, float *y)
{
    __shared__ alignas(128) float tile[64];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, x, sizeof(tile), &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof(tile));
    }
    y[threadIdx.x] = tile[threadIdx.x];
    while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {}
}
