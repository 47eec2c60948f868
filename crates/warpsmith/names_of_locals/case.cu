// case: 15 calls of elementary functions in 6 kernels.
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

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[tx * 9 + i * 3 + j] = sum;
        }
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

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ begin_2, const float *__restrict__ i1_2, float *end_out)
{
    __shared__ __align__(16) float shared[6912];
    float *s_begin_2 = shared;
    float *s_i1_2 = shared + 2304;
    float *s_end_out = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_begin_2, begin_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_i1_2, i1_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to begin in the load of begin
    d_madd33_1_compute_bx256_by1_bz1_sss(s_begin_2, s_i1_2, s_end_out, threadIdx.x);
    __syncthreads();  // the save of end reads what other threads wrote to end in madd33
    save_block<2304, 256, true>(end_out + (size_t)first * 9, s_end_out, here * 9, thread);
}

// mmul33, madd33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ end_out, const float *__restrict__ argc_2, float *fill_out,
    float *k_2)
{
    __shared__ __align__(16) float shared[6912];
    float *s_end_out = shared;
    float *s_argc_2 = shared + 2304;
    float *s_fill_out = shared + 4608;
    float r_load_block_2[9];
    float *s_k_2 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_end_out, end_out + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_argc_2, argc_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to end in the load of end
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_end_out, s_argc_2, s_fill_out, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_fill_out, s_fill_out, r_load_block_2, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rss(r_load_block_2, s_end_out, s_k_2, threadIdx.x);
    __syncthreads();  // the save of fill reads what other threads wrote to fill in mmul33
    save_block<2304, 256, true>(fill_out + (size_t)first * 9, s_fill_out, here * 9, thread);
    save_block<2304, 256, true>(k_2 + (size_t)first * 9, s_k_2, here * 9, thread);
}

// madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ i1_3, const float *__restrict__ k_2, float *i1_6)
{
    __shared__ __align__(16) float shared[4608];
    float *s_i1_3 = shared;
    float *s_k_2 = shared + 2304;
    float r_i1_4[9];
    float r_i1_5[9];
    float *s_i1_6 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_i1_3, i1_3 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_k_2, k_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to i1#2 in the load of i1#2
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_i1_3, s_k_2, r_i1_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_i1_4, s_k_2, r_i1_5, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_i1_5, s_k_2, s_i1_6, threadIdx.x);
    __syncthreads();  // the save of i1#5 reads what other threads wrote to i1#5 in madd33
    save_block<2304, 256, true>(i1_6 + (size_t)first * 9, s_i1_6, here * 9, thread);
}

// madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ i1_6, const float *__restrict__ k_2, float *i1_9)
{
    __shared__ __align__(16) float shared[4608];
    float *s_i1_6 = shared;
    float *s_k_2 = shared + 2304;
    float r_i1_7[9];
    float r_i1_8[9];
    float *s_i1_9 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_i1_6, i1_6 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_k_2, k_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to i1#5 in the load of i1#5
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_i1_6, s_k_2, r_i1_7, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_i1_7, s_k_2, r_i1_8, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_i1_8, s_k_2, s_i1_9, threadIdx.x);
    __syncthreads();  // the save of i1#8 reads what other threads wrote to i1#8 in madd33
    save_block<2304, 256, true>(i1_9 + (size_t)first * 9, s_i1_9, here * 9, thread);
}

// madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(
    int count, const float *__restrict__ i1_9, const float *__restrict__ k_2,
    const float *__restrict__ end_out, float *i1_11, float *bytes_9)
{
    __shared__ __align__(16) float shared[6912];
    float *s_i1_9 = shared;
    float *s_k_2 = shared + 2304;
    float r_i1_10[9];
    float *s_i1_11 = shared;
    float *s_end_out = shared + 4608;
    float *s_bytes_9 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_i1_9, i1_9 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_k_2, k_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_end_out, end_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to i1#8 in the load of i1#8
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_i1_9, s_k_2, r_i1_10, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_i1_10, s_k_2, s_i1_11, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_sss(s_i1_11, s_end_out, s_bytes_9, threadIdx.x);
    __syncthreads();  // the save of i1#10 reads what other threads wrote to i1#10 in madd33
    save_block<2304, 256, true>(i1_11 + (size_t)first * 9, s_i1_11, here * 9, thread);
    save_block<2304, 256, true>(bytes_9 + (size_t)first * 9, s_bytes_9, here * 9, thread);
}

// madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(
    int count, const float *__restrict__ i1_out, const float *__restrict__ bytes_10,
    const float *__restrict__ k_2, float *unix_out, float *per_second_out)
{
    __shared__ __align__(16) float shared[9216];
    float *s_i1_out = shared;
    float *s_bytes_10 = shared + 2304;
    float *s_unix_out = shared + 4608;
    float *s_k_2 = shared + 6912;
    float *s_per_second_out = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_i1_out, i1_out + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_bytes_10, bytes_10 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_k_2, k_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to i1#11 in the load of i1#11
    d_madd33_1_compute_bx256_by1_bz1_sss(s_i1_out, s_bytes_10, s_unix_out, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_sss(s_unix_out, s_k_2, s_per_second_out, threadIdx.x);
    __syncthreads();  // the save of unix reads what other threads wrote to unix in madd33
    save_block<2304, 256, true>(unix_out + (size_t)first * 9, s_unix_out, here * 9, thread);
    save_block<2304, 256, true>(per_second_out + (size_t)first * 9, s_per_second_out, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *begin_2, const float *i1_2, float *end_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, begin_2, i1_2, end_out);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *end_out, const float *argc_2, float *fill_out, float *k_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, end_out, argc_2, fill_out, k_2);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *i1_3, const float *k_2, float *i1_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, i1_3, k_2, i1_6);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *i1_6, const float *k_2, float *i1_9, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, i1_6, k_2, i1_9);
    return cudaGetLastError();
}

cudaError_t case_5_launch(
    int count, const float *i1_9, const float *k_2, const float *end_out, float *i1_11, float *bytes_9,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, i1_9, k_2, end_out, i1_11, bytes_9);
    return cudaGetLastError();
}

cudaError_t case_6_launch(
    int count, const float *i1_out, const float *bytes_10, const float *k_2, float *unix_out,
    float *per_second_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, i1_out, bytes_10, k_2, unix_out, per_second_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 45 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *begin_2, const float *i1_2, const float *argc_2, float *end_out, float *i1_out,
    float *unix_out, float *fill_out, float *per_second_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_k_2 = workspace;
    float *d_i1_3 = workspace + room * 9;
    float *d_i1_6 = workspace + room * 18;
    float *d_i1_9 = workspace + room * 27;
    float *d_bytes_9 = workspace + room * 36;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, begin_2, i1_2, end_out, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, end_out, argc_2, fill_out, d_k_2, stream);
    if (error != cudaSuccess) return error;
    const float *p_i1_3 = i1_2;
    for (int i1 = 0; i1 < 5; i1++) {
        float *n_i1_3 = i1 % 2 == 0 ? i1_out : d_i1_3;
        error = case_3_launch(count, p_i1_3, d_k_2, d_i1_6, stream);
        if (error != cudaSuccess) return error;
        error = case_4_launch(count, d_i1_6, d_k_2, d_i1_9, stream);
        if (error != cudaSuccess) return error;
        error = case_5_launch(count, d_i1_9, d_k_2, end_out, n_i1_3, d_bytes_9, stream);
        if (error != cudaSuccess) return error;
        p_i1_3 = n_i1_3;
    }
    error = case_6_launch(count, i1_out, d_bytes_9, d_k_2, unix_out, per_second_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *begin_2, const float *i1_2, const float *argc_2, float *end_out, float *i1_out,
    float *unix_out, float *fill_out, float *per_second_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_begin_2 = nullptr;
    float *device_i1_2 = nullptr;
    float *device_argc_2 = nullptr;
    float *device_end_out = nullptr;
    float *device_i1_out = nullptr;
    float *device_unix_out = nullptr;
    float *device_fill_out = nullptr;
    float *device_per_second_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_begin_2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_i1_2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_argc_2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_end_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_i1_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_unix_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_fill_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_per_second_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_begin_2, begin_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_i1_2, i1_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_argc_2, argc_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_begin_2, device_i1_2, device_argc_2, device_end_out, device_i1_out, device_unix_out, device_fill_out, device_per_second_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(end_out, device_end_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(i1_out, device_i1_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(unix_out, device_unix_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(fill_out, device_fill_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(per_second_out, device_per_second_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_begin_2);
    cudaFree(device_i1_2);
    cudaFree(device_argc_2);
    cudaFree(device_end_out);
    cudaFree(device_i1_out);
    cudaFree(device_unix_out);
    cudaFree(device_fill_out);
    cudaFree(device_per_second_out);
    cudaFree(workspace);
    return error;
}
