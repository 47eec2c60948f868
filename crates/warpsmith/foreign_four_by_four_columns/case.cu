// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "case.h"

// Copies a block's elements from a structure of arrays to shared memory: float k of element e stands `pitch` floats behind
// float k - 1. A thread stays with one element and goes from float to float, so that neighbours read neighbours and an address
// is one addition. Only the first `here` elements exist: the others become zeros.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void load_columns(float *shared, const float *global, size_t pitch, int here, int thread)
{
    constexpr int ROWS = THREADS / ELEMENTS;
    const int e = thread % ELEMENTS, first = thread / ELEMENTS;
    const float *from = global + first * pitch + e;
    float *to = shared + e * SIZE;
    #pragma unroll
    for (int k = first; k < SIZE; k += ROWS) {
        if (e < here)
            __pipeline_memcpy_async(to + k, from, 4);
        else
            to[k] = 0.0f;
        from += ROWS * pitch;
    }
}

// Copies a block's elements from shared memory to a structure of arrays. Only the first `here` exist.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void save_columns(float *global, const float *shared, size_t pitch, int here, int thread)
{
    constexpr int ROWS = THREADS / ELEMENTS;
    const int e = thread % ELEMENTS, first = thread / ELEMENTS;
    if (e >= here) return;
    float *to = global + first * pitch + e;
    #pragma unroll
    for (int k = first; k < SIZE; k += ROWS) {
        __stcs(to, shared[e * SIZE + k]);
        to += ROWS * pitch;
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

static __device__ __forceinline__ void d_mmul44_z_compute_bx4_by4_bz32_sss(float *a, float *b, float *c, int tx, int ty, int tz) {
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) sum += a[tz * 16 + ty * 4 + k] * b[tz * 16 + k * 4 + tx];
    c[tz * 16 + ty * 4 + tx] = sum;
}

static __device__ __forceinline__ void d_mtrace44_1_compute_bx32_by1_bz1_sr(float *a, float *t, int tx) {
    t[0] = a[tx * 16] + a[tx * 16 + 5] + a[tx * 16 + 10] + a[tx * 16 + 15];
}

// mmul44, mmul44, mtrace44: 32 elements a block.
static __global__ void __launch_bounds__(512) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ B, float *C, float *t)
{
    __shared__ __align__(16) float shared[1536];
    float *s_A = shared;
    float *s_B = shared + 512;
    float *s_C_2 = shared + 1024;
    float *s_C = shared + 512;
    float r_t[1];
    const int thread = threadIdx.x + 4 * (threadIdx.y + 4 * threadIdx.z);
    const int first = blockIdx.x * 32;
    const int here = min(count - first, 32);

    load_columns<16, 32, 512>(s_A, A + first, count, here, thread);
    load_columns<16, 32, 512>(s_B, B + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul44 reads what other threads wrote to A in the load of A
    d_mmul44_z_compute_bx4_by4_bz32_sss(s_A, s_B, s_C_2, threadIdx.x, threadIdx.y, threadIdx.z);
    __syncthreads();  // mmul44 writes C#2 where other threads touched B in mmul44
    d_mmul44_z_compute_bx4_by4_bz32_sss(s_C_2, s_A, s_C, threadIdx.x, threadIdx.y, threadIdx.z);
    __syncthreads();  // mtrace44 reads what other threads wrote to C#2 in mmul44
    if (thread < 32) d_mtrace44_1_compute_bx32_by1_bz1_sr(s_C, r_t, thread);
    save_columns<16, 32, 512>(C + first, s_C, count, here, thread);
    save_own<1>(t + first + thread, r_t, count, thread < here);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *C, float *t, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(4, 4, 32);
    case_1<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, A, B, C, t);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *t, float *C, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, C, t, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *t, float *C)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_t = nullptr;
    float *device_C = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_t, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_t, device_C, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(t, device_t, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_t);
    cudaFree(device_C);
    cudaFree(workspace);
    return error;
}
