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

static __device__ __forceinline__ void d_mul8_c_load_1_bx8_by8_bz1_s(mat8 g, float *s, int tx, int ty, int tz, int bx)
{
    for (int i = (tz * 8 + ty) * 8 + tx; i < 64 * 1; i += 64 * 1) s[i] = g[bx * 64 * 1 + i];
}

static __device__ __forceinline__ void d_mul8_c_compute_bx8_by8_bz1_sss(float *a, float *b, float *c, int tx, int ty, int tz)
{
    float s = 0;
    for (int k = 0; k < 8; k++) s += a[tz * 64 + ty * 8 + k] * b[tz * 64 + k * 8 + tx];
    c[tz * 64 + ty * 8 + tx] = s;
}

static __device__ __forceinline__ void d_tr8_b_compute_bx8_by8_bz1_sr(float *a, float *r, int tx, int ty) { r[0] = a[tx * 8 + ty]; }

static __device__ __forceinline__ void d_tr8_b_save_bx8_by8_bz1_r(float *s, mat8 a, int tx, int ty, int bx) { a[bx * 64 + ty * 8 + tx] = s[0]; }

// mul8, tr8, tr8: 1 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *A, float *B, float *C, float *B_out)
{
    __shared__ __align__(16) float shared[192];
    float *s_A = shared;
    float *s_B = shared + 64;
    float *s_C_2 = shared + 128;
    float r_C[1];
    float r_B_out[1];

    d_mul8_c_load_1_bx8_by8_bz1_s(A, s_A, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    d_mul8_c_load_1_bx8_by8_bz1_s(B, s_B, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    __syncthreads();  // mul8 reads what other threads wrote to A in the load of A
    d_mul8_c_compute_bx8_by8_bz1_sss(s_A, s_B, s_C_2, threadIdx.x, threadIdx.y, threadIdx.z);
    __syncthreads();  // tr8 reads what other threads wrote to C in mul8
    d_tr8_b_compute_bx8_by8_bz1_sr(s_C_2, r_C, threadIdx.x, threadIdx.y);
    d_tr8_b_save_bx8_by8_bz1_r(r_C, C, threadIdx.x, threadIdx.y, blockIdx.x);
    d_tr8_b_compute_bx8_by8_bz1_sr(s_A, r_B_out, threadIdx.x, threadIdx.y);
    d_tr8_b_save_bx8_by8_bz1_r(r_B_out, B_out, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *B, float *C, float *B_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(8, 8, 1);
    case_1<<<count, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(B), C, B_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *C, float *B_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, C, B_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *C, float *B_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 4) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_C = nullptr;
    float *device_B_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_C, 0, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B_out, 0, room * 64 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 64 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 64 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_C, device_B_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 64 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 64 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_B_out);
    cudaFree(workspace);
    return error;
}
