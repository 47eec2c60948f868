// case: 22 calls of elementary functions in 4 kernels.
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

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_rsr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_rss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[i] + B[tx * 9 + i];
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, const float *__restrict__ A, float *B_2)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A = shared;
    float *s_B_2 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A, s_A, s_B_2, threadIdx.x);
    __syncthreads();  // the save of B reads what other threads wrote to B in madd33
    save_block<2304, 256, true>(B_2 + (size_t)first * 9, s_B_2, here * 9, thread);
}

// madd33, madd33, madd33, madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ B_3, const float *__restrict__ A, float *B_11)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_3 = shared;
    float *s_A = shared + 2304;
    float r_B_4[9];
    float r_B_5[9];
    float r_B_6[9];
    float r_B_7[9];
    float r_B_8[9];
    float r_B_9[9];
    float r_B_10[9];
    float *s_B_11 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_3, B_3 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#2 in the load of B#2
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_B_3, s_A, r_B_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_4, s_A, r_B_5, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_5, s_A, r_B_6, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_6, s_A, r_B_7, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_7, s_A, r_B_8, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_8, s_A, r_B_9, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_9, s_A, r_B_10, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_B_10, s_A, s_B_11, threadIdx.x);
    __syncthreads();  // the save of B#10 reads what other threads wrote to B#10 in madd33
    save_block<2304, 256, true>(B_11 + (size_t)first * 9, s_B_11, here * 9, thread);
}

// madd33, madd33, madd33, madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ B_11, const float *__restrict__ A, float *B_19)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_11 = shared;
    float *s_A = shared + 2304;
    float r_B_12[9];
    float r_B_13[9];
    float r_B_14[9];
    float r_B_15[9];
    float r_B_16[9];
    float r_B_17[9];
    float r_B_18[9];
    float *s_B_19 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_11, B_11 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#10 in the load of B#10
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_B_11, s_A, r_B_12, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_12, s_A, r_B_13, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_13, s_A, r_B_14, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_14, s_A, r_B_15, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_15, s_A, r_B_16, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_16, s_A, r_B_17, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_17, s_A, r_B_18, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_B_18, s_A, s_B_19, threadIdx.x);
    __syncthreads();  // the save of B#18 reads what other threads wrote to B#18 in madd33
    save_block<2304, 256, true>(B_19 + (size_t)first * 9, s_B_19, here * 9, thread);
}

// madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ B_20, const float *__restrict__ A, float *B)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_20 = shared;
    float *s_A = shared + 2304;
    float r_B_21[9];
    float r_B_22[9];
    float r_B_23[9];
    float r_B_24[9];
    float *s_B = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_20, B_20 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#19 in the load of B#19
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_B_20, s_A, r_B_21, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_21, s_A, r_B_22, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_22, s_A, r_B_23, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B_23, s_A, r_B_24, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_B_24, s_A, s_B, threadIdx.x);
    __syncthreads();  // the save of B#24 reads what other threads wrote to B#24 in madd33
    save_block<2304, 256, true>(B + (size_t)first * 9, s_B, here * 9, thread);
}

cudaError_t case_1_launch(int count, const float *A, float *B_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, B_2);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *B_3, const float *A, float *B_11, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_3, A, B_11);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *B_11, const float *A, float *B_19, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_11, A, B_19);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *B_20, const float *A, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_20, A, B);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 36 * sizeof(float);
}

cudaError_t case_launch(int count, const float *A, float *B, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_B_2 = workspace;
    float *d_B_3_even = workspace + room * 9;
    float *d_B_3_odd = workspace + room * 18;
    float *d_B_11 = workspace + room * 27;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, d_B_2, stream);
    if (error != cudaSuccess) return error;
    const float *p_B_3 = d_B_2;
    for (int i1 = 0; i1 < 2; i1++) {
        float *n_B_3 = i1 % 2 == 0 ? d_B_3_even : d_B_3_odd;
        error = case_2_launch(count, p_B_3, A, d_B_11, stream);
        if (error != cudaSuccess) return error;
        error = case_3_launch(count, d_B_11, A, n_B_3, stream);
        if (error != cudaSuccess) return error;
        p_B_3 = n_B_3;
    }
    error = case_4_launch(count, p_B_3, A, B, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, float *B)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(workspace);
    return error;
}
