// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>

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

static __device__ __forceinline__ void d_axpby7_1_compute_bx64_by1_bz1_sssss(float *a, float *x, float *b, float *y, float *r, int tx)
{
    for (int i = 0; i < 7; i++) r[(tx * 7) + i] = a[(tx)] * x[(tx * 7) + i] + b[(tx)] * y[(tx * 7) + i];
}

static __device__ __forceinline__ void d_axpby7_1_save_bx64_by1_bz1_s(float *s, vec7 x, int tx, int bx)
{
    for (int i = 0; i < 7; i++) x[bx * 7 * 64 + tx + i * 64] = s[(tx) + i * 64];
}

static __device__ __forceinline__ void d_pick7_1_load_1_bx64_by1_bz1_s(vec7 x, float *s, int tx, int bx)
{
    for (int i = 0; i < 7; i++) s[tx * 7 + i] = x[(bx * 64 + tx) * 7 + i];
}

static __device__ __forceinline__ void d_pick7_1_load_2_bx64_by1_bz1_s(real x, float *s, int tx, int bx) { s[tx] = x[bx * 64 + tx]; }

static __device__ __forceinline__ void d_pick7_1_compute_bx64_by1_bz1_sss(float *x, float *w, float *r, int tx)
{
    int k = (int)(w[tx] * 5.0f) % 7;
    k = k < 0 ? 0 : k;
    r[tx] = x[tx * 7 + k];
}

static __device__ __forceinline__ void d_pick7_1_save_bx64_by1_bz1_s(float *s, real x, int tx, int bx) { x[bx * 64 + tx] = s[tx]; }

// pick7, pick7, axpby7: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(
    int count, float *x, float *w, float *y, float *s, float *x_out)
{
    __shared__ __align__(16) float shared[1472];
    float *s_x = shared;
    float *s_w = shared + 448;
    float *s_r = shared + 1344;
    float *s_y = shared + 448;
    float *s_s = shared + 1408;
    float *s_x_out = shared + 896;

    d_pick7_1_load_1_bx64_by1_bz1_s(x, s_x, threadIdx.x, blockIdx.x);
    d_pick7_1_load_2_bx64_by1_bz1_s(w, s_w, threadIdx.x, blockIdx.x);
    __syncthreads();  // pick7 reads what other threads wrote to x in the load of x
    d_pick7_1_compute_bx64_by1_bz1_sss(s_x, s_w, s_r, threadIdx.x);
    __syncthreads();  // the load of y writes y where other threads touched w in pick7
    d_pick7_1_load_1_bx64_by1_bz1_s(y, s_y, threadIdx.x, blockIdx.x);
    __syncthreads();  // pick7 reads what other threads wrote to y in the load of y
    d_pick7_1_compute_bx64_by1_bz1_sss(s_y, s_r, s_s, threadIdx.x);
    __syncthreads();  // the save of s reads what other threads wrote to s in pick7
    d_pick7_1_save_bx64_by1_bz1_s(s_s, s, threadIdx.x, blockIdx.x);
    d_axpby7_1_compute_bx64_by1_bz1_sssss(s_r, s_x, s_s, s_y, s_x_out, threadIdx.x);
    __syncthreads();  // the save of x#2 reads what other threads wrote to x#2 in axpby7
    d_axpby7_1_save_bx64_by1_bz1_s(s_x_out, x_out, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *x, const float *w, const float *y, float *s, float *x_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(x), const_cast<float *>(w), const_cast<float *>(y), s, x_out);
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
    const size_t room = ((size_t)count + 67) / 4 * 4;
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
    if (error == cudaSuccess) error = cudaMemset(device_x, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_y, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_w, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x_out, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
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
