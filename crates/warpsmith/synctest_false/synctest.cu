// synctest: 4 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "synctest.h"

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

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_ssr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_srr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_srs(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[ty * 9 + tx * 3 + j] + B[j];
}

// madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) synctest_1(int count, const float *__restrict__ A, float *B)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A = shared;
    float r_B_2[3];
    float r_B_3[3];
    float r_B_4[3];
    float *s_B = shared + 2304;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_2_compute_bx3_by256_bz1_ssr(s_A, s_A, r_B_2, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_srr(s_A, r_B_2, r_B_3, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_srr(s_A, r_B_3, r_B_4, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_srs(s_A, r_B_4, s_B, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#4 reads what other threads wrote to B#4 in madd33
    save_block<2304, 768, true>(B + (size_t)first * 9, s_B, here * 9, thread);
}

cudaError_t synctest_1_launch(int count, const float *A, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    synctest_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, B);
    return cudaGetLastError();
}

size_t synctest_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t synctest_launch(int count, const float *A, float *B, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = synctest_1_launch(count, A, B, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t synctest_host(int count, const float *A, float *B)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = synctest_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = synctest_launch(count, device_A, device_B, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(workspace);
    return error;
}
