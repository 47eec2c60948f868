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

static __device__ __forceinline__ void d_axpby7_1_compute_bx256_by1_bz1_sssss(float *a, float *x, float *b, float *y, float *r, int tx)
{
    for (int i = 0; i < 7; i++) r[(tx * 7) + i] = a[(tx)] * x[(tx * 7) + i] + b[(tx)] * y[(tx * 7) + i];
}

static __device__ __forceinline__ void d_pick7_1_compute_bx256_by1_bz1_sss(float *x, float *w, float *r, int tx)
{
    int k = (int)(w[tx] * 5.0f) % 7;
    k = k < 0 ? 0 : k;
    r[tx] = x[tx * 7 + k];
}

// pick7, pick7, axpby7: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ x, const float *__restrict__ w, const float *__restrict__ y,
    float *s, float *x_out)
{
    __shared__ __align__(16) float shared[5888];
    float *s_x = shared;
    float *s_w = shared + 3584;
    float *s_r = shared + 5376;
    float *s_y = shared + 1792;
    float *s_s = shared + 5632;
    float *s_x_out = shared + 3584;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1792, 256, true>(s_x, x + (size_t)first * 7, here * 7, thread);
    load_block<256, 256, true>(s_w, w + (size_t)first * 1, here * 1, thread);
    load_block<1792, 256, true>(s_y, y + (size_t)first * 7, here * 7, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // pick7 reads what other threads wrote to x in the load of x
    d_pick7_1_compute_bx256_by1_bz1_sss(s_x, s_w, s_r, threadIdx.x);
    __syncthreads();  // pick7 reads what other threads wrote to r in pick7
    d_pick7_1_compute_bx256_by1_bz1_sss(s_y, s_r, s_s, threadIdx.x);
    __syncthreads();  // axpby7 reads what other threads wrote to s in pick7
    d_axpby7_1_compute_bx256_by1_bz1_sssss(s_r, s_x, s_s, s_y, s_x_out, threadIdx.x);
    save_block<256, 256, true>(s + (size_t)first * 1, s_s, here * 1, thread);
    __syncthreads();  // the save of x#2 reads what other threads wrote to x#2 in axpby7
    save_block<1792, 256, true>(x_out + (size_t)first * 7, s_x_out, here * 7, thread);
}

cudaError_t case_1_launch(
    int count, const float *x, const float *w, const float *y, float *s, float *x_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x, w, y, s, x_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *x, const float *y, const float *w, float *x_out, float *s, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, x, w, y, s, x_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *x, const float *y, const float *w, float *x_out, float *s)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_x = nullptr;
    float *device_y = nullptr;
    float *device_w = nullptr;
    float *device_x_out = nullptr;
    float *device_s = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_y, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x_out, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_y, y, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_x, device_y, device_w, device_x_out, device_s, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x_out, device_x_out, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(s, device_s, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(device_w);
    cudaFree(device_x_out);
    cudaFree(device_s);
    cudaFree(workspace);
    return error;
}
