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

namespace act16 {

__device__ __forceinline__ float softplus(float x) { return x > 10.0f ? x : log1pf(expf(x)); }

static __device__ __forceinline__ void d_act16_8_compute_bx8_by16_bz1_sr(float *m, float *r, int tx, int ty)
{
    r[0] = softplus(m[(ty * 16 + tx * 2)]);
    r[0 + 1] = softplus(m[(ty * 16 + tx * 2) + 1]);
}

static __device__ __forceinline__ void d_act16_8_save_bx8_by16_bz1_r(float *s, mat4 m, int tx, int ty, int bx)
{
    m[(bx * 16 + ty) * 16 + tx * 2] = s[0];
    m[(bx * 16 + ty) * 16 + tx * 2 + 1] = s[0 + 1];
}

}

#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]

static __device__ __forceinline__ void d_mul4_row_load_1_bx4_by16_bz1_s(mat4 a, float *s, int tx, int ty, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; ++i) s[ty * 4 + tx + i * 4 * 16] = a[bx * 16 * 16 + ty * 4 + tx + i * 4 * 16];
}

static __device__ __forceinline__ void d_mul4_row_load_2_bx4_by16_bz1_s(mat4 a, float *s, int tx, int ty, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; ++i) s[ty * 4 + tx + i * 4 * 16] = a[bx * 16 * 16 + ty * 4 + tx + i * 4 * 16];
}

static __device__ __forceinline__ void d_mul4_row_compute_bx4_by16_bz1_sss(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + ty * 16 + tx * 4;
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[ty * 16 + tx * 4 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mul4_row_save_bx4_by16_bz1_s(float *s, mat4 a, int tx, int ty, int bx)
{
    for (int i = 0; i < 4; ++i) a[bx * 16 * 16 + ty * 4 + tx + i * 4 * 16] = s[ty * 4 + tx + i * 4 * 16];
}

#undef N4
#undef AT
// mul4, mul4, act16: 16 elements a block.
static __global__ void __launch_bounds__(128) case_1(int count, float *A, float *B, float *D, float *C)
{
    __shared__ __align__(16) float shared[768];
    float *s_A = shared;
    float *s_B = shared + 256;
    float *s_C_2 = shared + 512;
    float *s_D = shared;
    float r_C[2];
    const int thread = threadIdx.x + 8 * threadIdx.y;

    if (thread < 64) d_mul4_row_load_1_bx4_by16_bz1_s(A, s_A, thread % 4, thread / 4, blockIdx.x);
    if (thread < 64) d_mul4_row_load_2_bx4_by16_bz1_s(B, s_B, thread % 4, thread / 4, blockIdx.x);
    __syncthreads();  // mul4 reads what other threads wrote to A in the load of A
    if (thread < 64) d_mul4_row_compute_bx4_by16_bz1_sss(s_A, s_B, s_C_2, thread % 4, thread / 4);
    __syncthreads();  // mul4 reads what other threads wrote to C in mul4
    if (thread < 64) d_mul4_row_compute_bx4_by16_bz1_sss(s_C_2, s_C_2, s_D, thread % 4, thread / 4);
    __syncthreads();  // the save of D reads what other threads wrote to D in mul4
    if (thread < 64) d_mul4_row_save_bx4_by16_bz1_s(s_D, D, thread % 4, thread / 4, blockIdx.x);
    act16::d_act16_8_compute_bx8_by16_bz1_sr(s_D, r_C, threadIdx.x, threadIdx.y);
    act16::d_act16_8_save_bx8_by16_bz1_r(r_C, C, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *D, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(8, 16, 1);
    case_1<<<(count - 1) / 16 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(B), D, C);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *C, float *D, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, D, C, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *C, float *D)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 19) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_C = nullptr;
    float *device_D = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_D, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_C, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_D, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_C, device_D, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(D, device_D, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_D);
    cudaFree(workspace);
    return error;
}
