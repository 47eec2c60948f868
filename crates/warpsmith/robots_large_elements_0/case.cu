// case: 3 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_mul20_row_compute_bx20_by8_bz1_ssr(float *a, float *b, float *c, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 20; j++) {
        float s = 0;
        #pragma unroll
        for (int k = 0; k < 20; k++) s += a[ty * 400 + tx * 20 + k] * b[ty * 400 + k * 20 + j];
        c[j] = s;
    }
}

static __device__ __forceinline__ void d_mul20_row_compute_bx20_by8_bz1_rss(float *a, float *b, float *c, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 20; j++) {
        float s = 0;
        #pragma unroll
        for (int k = 0; k < 20; k++) s += a[k] * b[ty * 400 + k * 20 + j];
        c[ty * 400 + tx * 20 + j] = s;
    }
}

static __device__ __forceinline__ void d_rows20_1_compute_bx20_by8_bz1_ss(float *a, float *r, int tx, int ty)
{
    float s = 0;
    for (int k = 0; k < 20; k++) s += a[ty * 400 + tx * 20 + k];
    r[ty * 20 + tx] = s;
}

// mul20, mul20, rows20: 8 elements a block.
static __global__ void __launch_bounds__(160) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ B, float *C, float *r)
{
    __shared__ __align__(16) float shared[6400];
    float *s_A = shared;
    float *s_B = shared + 3200;
    float r_C_2[20];
    float *s_C = shared + 3200;
    float *s_r = shared;
    const int thread = threadIdx.x + 20 * threadIdx.y;
    const int first = blockIdx.x * 8;
    const int here = min(count - first, 8);

    load_block<3200, 160, true>(s_A, A + (size_t)first * 400, here * 400, thread);
    load_block<3200, 160, true>(s_B, B + (size_t)first * 400, here * 400, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mul20 reads what other threads wrote to A in the load of A
    d_mul20_row_compute_bx20_by8_bz1_ssr(s_A, s_B, r_C_2, threadIdx.x, threadIdx.y);
    __syncthreads();  // mul20 writes C#2 where other threads touched B in mul20
    d_mul20_row_compute_bx20_by8_bz1_rss(r_C_2, s_A, s_C, threadIdx.x, threadIdx.y);
    __syncthreads();  // rows20 writes r where other threads touched A in mul20
    d_rows20_1_compute_bx20_by8_bz1_ss(s_C, s_r, threadIdx.x, threadIdx.y);
    save_block<3200, 160, true>(C + (size_t)first * 400, s_C, here * 400, thread);
    __syncthreads();  // the save of r reads what other threads wrote to r in rows20
    save_block<160, 160, true>(r + (size_t)first * 20, s_r, here * 20, thread);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *C, float *r, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(20, 8, 1);
    case_1<<<(count - 1) / 8 + 1, block, 0, stream>>>(count, A, B, C, r);
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
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
