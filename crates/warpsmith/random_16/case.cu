// case: 5 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by256_bz1_sss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by256_bz1_sr(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by256_bz1_rss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[j];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

// mvmul33, mvmul33, venorm3: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ in_m, const float *__restrict__ in_v, float *x0, float *x4)
{
    __shared__ __align__(16) float shared[3840];
    float *s_in_m = shared;
    float *s_in_v = shared + 2304;
    float *s_x0 = shared + 3072;
    float *s_x1 = shared + 2304;
    float r_x4[1];
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to in_m in the load of in_m
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_in_m, s_in_v, s_x0, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes x1 where other threads touched in_v in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_in_m, s_x0, s_x1, threadIdx.x, threadIdx.y);
    __syncthreads();  // venorm3 reads what other threads wrote to x1 in mvmul33
    if (thread < 256) d_venorm3_1_compute_bx256_by1_bz1_sr(s_x1, r_x4, thread);
    save_block<768, 768, true>(x0 + (size_t)first * 3, s_x0, here * 3, thread);
    save_own<1>(x4 + first + thread, r_x4, 0, thread < here);
}

// smimul33, smmul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_2(int count, const float *__restrict__ in_s, float *x3)
{
    __shared__ __align__(16) float shared[2560];
    float *s_in_s = shared + 2304;
    float r_x2[3];
    float *s_x3 = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<256, 768, true>(s_in_s, in_s + (size_t)first * 1, here * 1, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smimul33 reads what other threads wrote to in_s in the load of in_s
    d_smimul33_2_compute_bx3_by256_bz1_sr(s_in_s, r_x2, threadIdx.x, threadIdx.y);
    d_smmul33_2_compute_bx3_by256_bz1_rss(r_x2, s_in_s, s_x3, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of x3 reads what other threads wrote to x3 in smmul33
    save_block<2304, 768, true>(x3 + (size_t)first * 9, s_x3, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *in_m, const float *in_v, float *x0, float *x4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, in_v, x0, x4);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *in_s, float *x3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_s, x3);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x3, float *x4, float *x0,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_v, x0, x4, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_s, x3, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x3, float *x4, float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_x3 = nullptr;
    float *device_x4 = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x3, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x4, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_in_s, device_x3, device_x4, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x3, device_x3, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x4, device_x4, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x3);
    cudaFree(device_x4);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
