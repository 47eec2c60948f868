// mbarrier through functions: those of the primitives' header and those of cuda::ptx; tokens and parities.
#include <cuda_awbarrier_primitives.h>
#include <cuda/barrier>
#include <cuda/ptx>
// warpsmith: grid=1 block=64 arg x=int[64] arg y=int[64]=zeros
__global__ void primitives(const int *x, int *y)
{
    __shared__ __mbarrier_t bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) __mbarrier_init(&bar, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];
    __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {}
    y[threadIdx.x] = s[threadIdx.x ^ 32];
    __syncthreads();
    if (threadIdx.x == 0) __mbarrier_inval(&bar);
}
namespace ptx = cuda::ptx;
// warpsmith: grid=1 block=64 arg x=int[64] arg y=int[64]=zeros
__global__ void functions_of_ptx(const int *x, int *y)
{
    __shared__ uint64_t bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) ptx::mbarrier_init(&bar, 64);
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];
    uint64_t token = ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar);
    while (!ptx::mbarrier_try_wait(&bar, token)) {}
    int other = s[threadIdx.x ^ 32];
    ptx::mbarrier_arrive(&bar);
    while (!ptx::mbarrier_try_wait_parity(&bar, 1)) {}
    s[threadIdx.x] = other;
    y[threadIdx.x] = s[threadIdx.x];
}
// warpsmith: grid=1 block=128 arg x=int[128] arg y=int[128]=zeros
__global__ void native_handle(const int *x, int *y)
{
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) int s[128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(s, x, cuda::aligned_size_t<16>(sizeof(s)), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    y[threadIdx.x] = s[127 - threadIdx.x];
    __assert(y[threadIdx.x] == x[127 - threadIdx.x]);
}
