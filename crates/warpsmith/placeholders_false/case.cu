// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "case.h"

// Copies FLOATS floats of a block's elements to shared memory, 16 bytes at a time where both sides allow. Of the last
// block only the first `there` exist: the others become zeros.
template <int FLOATS, int THREADS, bool WIDE>
static __device__ __forceinline__ void load_block(float *shared, const float *global, int there, int thread)
{
    if (WIDE && there >= FLOATS && reinterpret_cast<size_t>(global) % 16 == 0) {
        #pragma unroll 4
        for (int i = 4 * thread; i < FLOATS; i += 4 * THREADS)
            __pipeline_memcpy_async(shared + i, global + i, 16);
    } else {
        for (int i = thread; i < FLOATS; i += THREADS) {
            if (i < there)
                __pipeline_memcpy_async(shared + i, global + i, 4);
            else
                shared[i] = 0.0f;
        }
    }
}

// Copies FLOATS floats of a block's elements from shared memory, 16 bytes at a time where both sides allow. Of the last
// block only the first `there` exist.
template <int FLOATS, int THREADS, bool WIDE>
static __device__ __forceinline__ void save_block(float *global, const float *shared, int there, int thread)
{
    if (WIDE && there >= FLOATS && reinterpret_cast<size_t>(global) % 16 == 0) {
        #pragma unroll 4
        for (int i = 4 * thread; i < FLOATS; i += 4 * THREADS)
            __stcs(reinterpret_cast<float4 *>(global + i), *reinterpret_cast<const float4 *>(shared + i));
    } else {
        for (int i = thread; i < FLOATS; i += THREADS)
            if (i < there) global[i] = shared[i];
    }
}

__device__ inline float times(float a, float b) { return a * b; }

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_ssr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

namespace product {

#define SIDE 3
__device__ inline int row(int i) { return i * SIDE; }

static __device__ __forceinline__ void d_product_2_compute_bx3_by256_bz1_sss(float *s_a, float *s_b, float *s_c, int tx, int ty) {
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        float tmp = 0.0f;
        #pragma unroll
        for (int k = 0; k < SIDE; k++) tmp += times(s_a[(ty * 9 + tx * 3) + k], s_b[(ty * 9) + row(k) + i]);
        s_c[(ty * 9 + tx * 3) + i] = tmp;
    }
}

static __device__ __forceinline__ void d_product_2_compute_bx3_by256_bz1_rss(float *s_a, float *s_b, float *s_c, int tx, int ty) {
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        float tmp = 0.0f;
        #pragma unroll
        for (int k = 0; k < SIDE; k++) tmp += times(s_a[0 + k], s_b[(ty * 9) + row(k) + i]);
        s_c[(ty * 9 + tx * 3) + i] = tmp;
    }
}

}

#undef SIDE
// product, madd33, product: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ B, float *E)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A = shared;
    float *s_B = shared + 2304;
    float *s_C = shared + 4608;
    float r_D[3];
    float *s_E = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 256 >= count) break;
        const int first = block * 256;
        const int here = min(count - first, 256);

        __syncthreads();  // the load of A writes A where other threads touched E in the save of E
        load_block<2304, 768, true>(s_A, A + (size_t)first * 9, here * 9, thread);
        load_block<2304, 768, true>(s_B, B + (size_t)first * 9, here * 9, thread);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // product reads what other threads wrote to A in the load of A
        product::d_product_2_compute_bx3_by256_bz1_sss(s_A, s_B, s_C, threadIdx.x, threadIdx.y);
        d_madd33_2_compute_bx3_by256_bz1_ssr(s_C, s_A, r_D, threadIdx.x, threadIdx.y);
        __syncthreads();  // product reads what other threads wrote to C in product
        product::d_product_2_compute_bx3_by256_bz1_rss(r_D, s_C, s_E, threadIdx.x, threadIdx.y);
        __syncthreads();  // the save of E reads what other threads wrote to E in product
        save_block<2304, 768, true>(E + (size_t)first * 9, s_E, here * 9, thread);
    }
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *E, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 512 + 1, block, 0, stream>>>(count, A, B, E);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *E, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, E, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *E)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_E = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_E, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_E, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(E, device_E, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_E);
    cudaFree(workspace);
    return error;
}
