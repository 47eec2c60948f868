// case: 3 calls of elementary functions in 3 kernels.
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

// Brings the floats of an element to the registers of its thread; they stand `pitch` floats apart.
template <int SIZE>
static __device__ __forceinline__ void load_own(float *own, const float *global, size_t pitch)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) own[k] = __ldcs(global);
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

static __device__ __forceinline__ void d_smimul33_1_compute_bx256_by1_bz1_rs(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = i % 4 == 0 ? s[0] : 0.0f;
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_srs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[tx * 9 + i];
}

// smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ in_m, const float *__restrict__ in_s, float *x0)
{
    __shared__ __align__(16) float shared[4608];
    float *s_in_m = shared;
    float r_in_s[1];
    float *s_x0 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_in_s, in_s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to in_m in the load of in_m
    d_smmul33_1_compute_bx256_by1_bz1_srs(s_in_m, r_in_s, s_x0, threadIdx.x);
    __syncthreads();  // the save of x0 reads what other threads wrote to x0 in smmul33
    save_block<2304, 256, true>(x0 + (size_t)first * 9, s_x0, here * 9, thread);
}

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(int count, const float *__restrict__ in_s, float *x1)
{
    __shared__ __align__(16) float shared[2304];
    float r_in_s[1];
    float *s_x1 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<1>(r_in_s, in_s + first + min(thread, here - 1), 0);
    d_smimul33_1_compute_bx256_by1_bz1_rs(r_in_s, s_x1, threadIdx.x);
    __syncthreads();  // the save of x1 reads what other threads wrote to x1 in smimul33
    save_block<2304, 256, true>(x1 + (size_t)first * 9, s_x1, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ x1, const float *__restrict__ in_v, float *x2)
{
    __shared__ __align__(16) float shared[3840];
    float *s_x1 = shared;
    float *s_in_v = shared + 2304;
    float *s_x2 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_x1, x1 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to x1 in the load of x1
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_x1, s_in_v, s_x2, threadIdx.x);
    __syncthreads();  // the save of x2 reads what other threads wrote to x2 in mvmul33
    save_block<768, 256, true>(x2 + (size_t)first * 3, s_x2, here * 3, thread);
}

cudaError_t case_1_launch(int count, const float *in_m, const float *in_s, float *x0, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, in_s, x0);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *in_s, float *x1, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_s, x1);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *x1, const float *in_v, float *x2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x1, in_v, x2);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 9 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x0, float *x2,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_x1 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_s, x0, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_s, d_x1, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, d_x1, in_v, x2, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x0, float *x2)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_x0 = nullptr;
    float *device_x2 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x2, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_in_s, device_x0, device_x2, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x2, device_x2, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x0);
    cudaFree(device_x2);
    cudaFree(workspace);
    return error;
}
