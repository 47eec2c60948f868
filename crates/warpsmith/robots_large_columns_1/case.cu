// case: 2 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "case.h"

/* element types of the robotics library */
#ifndef ROBO_TYPES_CUH
#define ROBO_TYPES_CUH
typedef float *real;      // warpsmith: elements 1
typedef float *vec2;      // warpsmith: elements 2
typedef float *vec3;      // warpsmith: elements 3
typedef float* vec4;      // warpsmith: elements 4
typedef float *quat;      // warpsmith: elements 4
typedef float *vec7;      // warpsmith: elements 7
typedef float *sym3;      // warpsmith: elements 6
typedef float *mat2;      // warpsmith: elements 4
typedef float *mat4;      // warpsmith: elements 16
typedef float *mat8;      // warpsmith: elements 64
typedef float *vec20;     // warpsmith: elements 20
typedef float *mat20;     // warpsmith: elements 400
#endif

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

static __device__ __forceinline__ void d_mul20_tile_load_1_bx10_by10_bz4_s(mat20 g, float *s, int tx, int ty, int tz, int bx)
{
    for (int i = (tz * 10 + ty) * 10 + tx; i < 400 * 4; i += 100 * 4) s[i] = g[bx * 400 * 4 + i];
}

static __device__ __forceinline__ void d_mul20_tile_compute_bx10_by10_bz4_sss(float *a, float *b, float *c, int tx, int ty, int tz)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            float s = 0;
            for (int k = 0; k < 20; k++) s += a[tz * 400 + (ty * 2 + i) * 20 + k] * b[tz * 400 + k * 20 + tx * 2 + j];
            c[tz * 400 + (ty * 2 + i) * 20 + tx * 2 + j] = s;
        }
}

static __device__ __forceinline__ void d_rows20_1_compute_bx20_by4_bz1_sr(float *a, float *r, int tx, int ty)
{
    float s = 0;
    #pragma unroll
    for (int k = 0; k < 20; k++) s += a[ty * 400 + tx * 20 + k];
    r[0] = s;
}

static __device__ __forceinline__ void d_rows20_1_save_bx20_by4_bz1_r(float *s, vec20 g, int tx, int ty, int bx)
{
    #pragma unroll
    for (int i = ty * 20 + tx; i < 20 * 4; i += 20 * 4) g[bx * 20 * 4 + i] = s[(i) - (ty * 20 + tx)];
}

// mul20, rows20: 4 elements a block.
static __global__ void __launch_bounds__(400) case_1(
    int count, const float *__restrict__ A, float *B, float *C, float *r)
{
    __shared__ __align__(16) float shared[4800];
    float *s_A = shared;
    float *s_B = shared + 1600;
    float *s_C = shared + 3200;
    float r_r[1];
    const int thread = threadIdx.x + 10 * (threadIdx.y + 10 * threadIdx.z);
    const int first = blockIdx.x * 4;
    const int here = min(count - first, 4);

    load_columns<400, 4, 400>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    d_mul20_tile_load_1_bx10_by10_bz4_s(B, s_B, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    __syncthreads();  // mul20 reads what other threads wrote to A in the load of A
    d_mul20_tile_compute_bx10_by10_bz4_sss(s_A, s_B, s_C, threadIdx.x, threadIdx.y, threadIdx.z);
    if (thread < 80) d_rows20_1_compute_bx20_by4_bz1_sr(s_A, r_r, thread % 20, thread / 20);
    if (thread < 80) d_rows20_1_save_bx20_by4_bz1_r(r_r, r, thread % 20, thread / 20, blockIdx.x);
    __syncthreads();  // the save of C reads what other threads wrote to C in mul20
    save_columns<400, 4, 400>(C + first, s_C, count, here, thread);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *C, float *r, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(10, 10, 4);
    case_1<<<(count - 1) / 4 + 1, block, 0, stream>>>(count, A, const_cast<float *>(B), C, r);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *C, float *r, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, C, r, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *C, float *r)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 7) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_C = nullptr;
    float *device_r = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 400 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 400 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 400 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 20 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 400 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 400 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_C, 0, room * 400 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_r, 0, room * 20 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 400 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 400 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_C, device_r, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 400 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(r, device_r, (size_t)count * 20 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_r);
    cudaFree(workspace);
    return error;
}
