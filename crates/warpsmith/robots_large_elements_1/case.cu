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

static __device__ __forceinline__ void d_mul20_row_load_1_bx20_by8_bz1_s(mat20 g, float *s, int tx, int ty, int bx)
{
    for (int i = ty * 20 + tx; i < 400 * 8; i += 20 * 8) s[i] = g[bx * 400 * 8 + i];
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

static __device__ __forceinline__ void d_mul20_row_save_bx20_by8_bz1_s(float *s, mat20 g, int tx, int ty, int bx)
{
    for (int i = ty * 20 + tx; i < 400 * 8; i += 20 * 8) g[bx * 400 * 8 + i] = s[i];
}

static __device__ __forceinline__ void d_rows20_1_compute_bx20_by8_bz1_sr(float *a, float *r, int tx, int ty)
{
    float s = 0;
    #pragma unroll
    for (int k = 0; k < 20; k++) s += a[ty * 400 + tx * 20 + k];
    r[0] = s;
}

static __device__ __forceinline__ void d_rows20_1_save_bx20_by8_bz1_r(float *s, vec20 g, int tx, int ty, int bx)
{
    #pragma unroll
    for (int i = ty * 20 + tx; i < 20 * 8; i += 20 * 8) g[bx * 20 * 8 + i] = s[(i) - (ty * 20 + tx)];
}

// mul20, mul20, rows20: 8 elements a block.
static __global__ void __launch_bounds__(160) case_1(int count, float *A, float *B, float *C, float *r)
{
    __shared__ __align__(16) float shared[6400];
    float *s_A = shared;
    float *s_B = shared + 3200;
    float r_C_2[20];
    float *s_C = shared + 3200;
    float r_r[1];

    d_mul20_row_load_1_bx20_by8_bz1_s(A, s_A, threadIdx.x, threadIdx.y, blockIdx.x);
    d_mul20_row_load_1_bx20_by8_bz1_s(B, s_B, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // mul20 reads what other threads wrote to A in the load of A
    d_mul20_row_compute_bx20_by8_bz1_ssr(s_A, s_B, r_C_2, threadIdx.x, threadIdx.y);
    __syncthreads();  // mul20 writes C#2 where other threads touched B in mul20
    d_mul20_row_compute_bx20_by8_bz1_rss(r_C_2, s_A, s_C, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of C#2 reads what other threads wrote to C#2 in mul20
    d_mul20_row_save_bx20_by8_bz1_s(s_C, C, threadIdx.x, threadIdx.y, blockIdx.x);
    d_rows20_1_compute_bx20_by8_bz1_sr(s_C, r_r, threadIdx.x, threadIdx.y);
    d_rows20_1_save_bx20_by8_bz1_r(r_r, r, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *C, float *r, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(20, 8, 1);
    case_1<<<(count - 1) / 8 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(B), C, r);
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
    const size_t room = ((size_t)count + 11) / 4 * 4;
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
