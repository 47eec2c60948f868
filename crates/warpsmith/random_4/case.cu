// case: 5 calls of elementary functions in 5 kernels.
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

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
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

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_sss(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_ttmul311_1_compute_bx256_by1_bz1_sss(float *T, float *v, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += T[tx * 27 + i * 3 + k] * v[tx * 3 + k];
        R[tx * 9 + i] = sum;
    }
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ in_m, const float *__restrict__ in_v, float *x0)
{
    __shared__ __align__(16) float shared[3840];
    float *s_in_m = shared;
    float *s_in_v = shared + 2304;
    float *s_x0 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to in_m in the load of in_m
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_in_m, s_in_v, s_x0, threadIdx.x);
    __syncthreads();  // the save of x0 reads what other threads wrote to x0 in mvmul33
    save_block<768, 256, true>(x0 + (size_t)first * 3, s_x0, here * 3, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(int count, const float *__restrict__ in_v, float *x1)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x1[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to in_v in the load of in_v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x1, threadIdx.x);
    save_own<1>(x1 + first + thread, r_x1, 0, thread < here);
}

// ttmul311: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ in_3, const float *__restrict__ x0, float *x2)
{
    __shared__ __align__(16) float shared[9984];
    float *s_in_3 = shared;
    float *s_x0 = shared + 9216;
    float *s_x2 = shared + 6912;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<6912, 256, true>(s_in_3, in_3 + (size_t)first * 27, here * 27, thread);
    load_block<768, 256, true>(s_x0, x0 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // ttmul311 reads what other threads wrote to in_3 in the load of in_3
    d_ttmul311_1_compute_bx256_by1_bz1_sss(s_in_3, s_x0, s_x2, threadIdx.x);
    __syncthreads();  // the save of x2 reads what other threads wrote to x2 in ttmul311
    save_block<2304, 256, true>(x2 + (size_t)first * 9, s_x2, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ x2, const float *__restrict__ in_v, float *x3)
{
    __shared__ __align__(16) float shared[3840];
    float *s_x2 = shared;
    float *s_in_v = shared + 2304;
    float *s_x3 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_x2, x2 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to x2 in the load of x2
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_x2, s_in_v, s_x3, threadIdx.x);
    __syncthreads();  // the save of x3 reads what other threads wrote to x3 in mvmul33
    save_block<768, 256, true>(x3 + (size_t)first * 3, s_x3, here * 3, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(int count, const float *__restrict__ x2, float *x4)
{
    __shared__ __align__(16) float shared[4608];
    float *s_x2 = shared;
    float *s_x4 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_x2, x2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to x2 in the load of x2
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_x2, s_x2, s_x4, threadIdx.x);
    __syncthreads();  // the save of x4 reads what other threads wrote to x4 in mmul33
    save_block<2304, 256, true>(x4 + (size_t)first * 9, s_x4, here * 9, thread);
}

cudaError_t case_1_launch(int count, const float *in_m, const float *in_v, float *x0, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, in_v, x0);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *in_v, float *x1, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x1);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *in_3, const float *x0, float *x2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_3, x0, x2);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *x2, const float *in_v, float *x3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x2, in_v, x3);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *x2, float *x4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x2, x4);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 12 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, const float *in_3, float *x1, float *x3, float *x4,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_x0 = workspace;
    float *d_x2 = workspace + room * 3;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_v, d_x0, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_v, x1, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, in_3, d_x0, d_x2, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, d_x2, in_v, x3, stream);
    if (error != cudaSuccess) return error;
    error = case_5_launch(count, d_x2, x4, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_v, const float *in_3, float *x1, float *x3, float *x4)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_in_3 = nullptr;
    float *device_x1 = nullptr;
    float *device_x3 = nullptr;
    float *device_x4 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_3, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x1, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x3, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x4, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_3, in_3, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_in_3, device_x1, device_x3, device_x4, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x1, device_x1, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x3, device_x3, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x4, device_x4, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_in_3);
    cudaFree(device_x1);
    cudaFree(device_x3);
    cudaFree(device_x4);
    cudaFree(workspace);
    return error;
}
