// case: 14 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_rss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[tx * 9 + i * 3 + j] = sum;
        }
}

// madd33, madd33, madd33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ p_A_2,
    const float *__restrict__ device_A_2, const float *__restrict__ A_expected_2, float *s_A_2,
    float *d_A_even_2)
{
    __shared__ __align__(16) float shared[11520];
    float *s_A = shared;
    float *s_p_A_2 = shared + 2304;
    float *s_s_A_2 = shared + 4608;
    float *s_device_A_2 = shared + 6912;
    float r_c_A_2[9];
    float *s_A_expected_2 = shared + 9216;
    float r_n_A_2[9];
    float *s_d_A_even_2 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_p_A_2, p_A_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_device_A_2, device_A_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A_expected_2, A_expected_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A, s_p_A_2, s_s_A_2, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_s_A_2, s_device_A_2, r_c_A_2, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_c_A_2, s_A_expected_2, r_n_A_2, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rss(r_n_A_2, s_A, s_d_A_even_2, threadIdx.x);
    __syncthreads();  // the save of s_A reads what other threads wrote to s_A in madd33
    save_block<2304, 256, true>(s_A_2 + (size_t)first * 9, s_s_A_2, here * 9, thread);
    save_block<2304, 256, true>(d_A_even_2 + (size_t)first * 9, s_d_A_even_2, here * 9, thread);
}

// madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ A_3, const float *__restrict__ d_A_even_2, float *A_8)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A_3 = shared;
    float *s_d_A_even_2 = shared + 2304;
    float r_A_4[9];
    float r_A_5[9];
    float r_A_6[9];
    float r_A_7[9];
    float *s_A_8 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_3, A_3 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_d_A_even_2, d_A_even_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#2 in the load of A#2
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_A_3, s_d_A_even_2, r_A_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_A_4, s_d_A_even_2, r_A_5, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_A_5, s_d_A_even_2, r_A_6, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_A_6, s_d_A_even_2, r_A_7, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_A_7, s_d_A_even_2, s_A_8, threadIdx.x);
    __syncthreads();  // the save of A#7 reads what other threads wrote to A#7 in madd33
    save_block<2304, 256, true>(A_8 + (size_t)first * 9, s_A_8, here * 9, thread);
}

// madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ A_8, const float *__restrict__ d_A_even_2, float *A_13)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A_8 = shared;
    float *s_d_A_even_2 = shared + 2304;
    float r_A_9[9];
    float r_A_10[9];
    float r_A_11[9];
    float r_A_12[9];
    float *s_A_13 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_8, A_8 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_d_A_even_2, d_A_even_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#7 in the load of A#7
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_A_8, s_d_A_even_2, r_A_9, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_A_9, s_d_A_even_2, r_A_10, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_A_10, s_d_A_even_2, r_A_11, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_A_11, s_d_A_even_2, r_A_12, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_A_12, s_d_A_even_2, s_A_13, threadIdx.x);
    __syncthreads();  // the save of A#12 reads what other threads wrote to A#12 in madd33
    save_block<2304, 256, true>(A_13 + (size_t)first * 9, s_A_13, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *p_A_2, const float *device_A_2, const float *A_expected_2,
    float *s_A_2, float *d_A_even_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, p_A_2, device_A_2, A_expected_2, s_A_2, d_A_even_2);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *A_3, const float *d_A_even_2, float *A_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_3, d_A_even_2, A_8);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *A_8, const float *d_A_even_2, float *A_13, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_8, d_A_even_2, A_13);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 27 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *p_A_2, const float *device_A_2, const float *A_expected_2,
    float *A_out, float *s_A_2, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_d_A_even_2 = workspace;
    float *d_A_3 = workspace + room * 9;
    float *d_A_8 = workspace + room * 18;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, p_A_2, device_A_2, A_expected_2, s_A_2, d_d_A_even_2, stream);
    if (error != cudaSuccess) return error;
    const float *p_A_3 = A;
    for (int i1 = 0; i1 < 4; i1++) {
        float *n_A_3 = i1 % 2 == 0 ? d_A_3 : A_out;
        error = case_2_launch(count, p_A_3, d_d_A_even_2, d_A_8, stream);
        if (error != cudaSuccess) return error;
        error = case_3_launch(count, d_A_8, d_d_A_even_2, n_A_3, stream);
        if (error != cudaSuccess) return error;
        p_A_3 = n_A_3;
    }
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *p_A_2, const float *device_A_2, const float *A_expected_2,
    float *A_out, float *s_A_2)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_p_A_2 = nullptr;
    float *device_device_A_2 = nullptr;
    float *device_A_expected_2 = nullptr;
    float *device_A_out = nullptr;
    float *device_s_A_2 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_p_A_2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_device_A_2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_expected_2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s_A_2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_p_A_2, p_A_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_device_A_2, device_A_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_A_expected_2, A_expected_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_p_A_2, device_device_A_2, device_A_expected_2, device_A_out, device_s_A_2, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(s_A_2, device_s_A_2, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_p_A_2);
    cudaFree(device_device_A_2);
    cudaFree(device_A_expected_2);
    cudaFree(device_A_out);
    cudaFree(device_s_A_2);
    cudaFree(workspace);
    return error;
}
