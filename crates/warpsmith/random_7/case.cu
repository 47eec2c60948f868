// case: 8 calls of elementary functions in 2 kernels.
// Made for sm_90.

#include <cuda_runtime.h>

#include "case.h"

// The element types: each a pointer to float, and the number of floats that one element has. Element e of an array of
// 3x3 matrices begins at offset 9 * e; rows follow one another.

typedef float *scalar;         // warpsmith: elements 1
typedef float *vector3;        // warpsmith: elements 3
typedef float *matrix3x3;      // warpsmith: elements 9
typedef float *matrix5x5;      // warpsmith: elements 25
typedef float *tensor3x3x3;    // warpsmith: elements 27
typedef float *tensor3x3x3x3;  // warpsmith: elements 81

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by16_bz1_rrs(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[j] + B[j];
}

static __device__ __forceinline__ void d_madd33_2_save_bx3_by16_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 16;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 16 + ty * 3 + tx] = s_C[i * 3 * 16 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mmul55_1_load_1_bx64_by1_bz1_s(matrix5x5 A, float *s_A, int tx, int bx)
{
    matrix5x5 block_A = A + (size_t)bx * 25 * 64;
    #pragma unroll
    for (int i = 0; i < 25; i++) s_A[i * 64 + tx] = block_A[i * 64 + tx];
}

static __device__ __forceinline__ void d_mmul55_1_compute_bx64_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 5; i++)
        #pragma unroll
        for (int j = 0; j < 5; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 5; k++) sum += A[tx * 25 + i * 5 + k] * B[tx * 25 + k * 5 + j];
            C[tx * 25 + i * 5 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mmul55_1_save_bx64_by1_bz1_s(float *s_C, matrix5x5 C, int tx, int bx)
{
    matrix5x5 block_C = C + (size_t)bx * 25 * 64;
    #pragma unroll
    for (int i = 0; i < 25; i++) block_C[i * 64 + tx] = s_C[i * 64 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_load_1_bx3_by16_bz1_s(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 16;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * 16 + ty * 3 + tx] = block_A[i * 3 * 16 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_load_2_bx3_by16_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 16;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by16_bz1_sss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by16_bz1_ss(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_smimul33_2_save_bx3_by16_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 16;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 16 + ty * 3 + tx] = s_C[i * 3 * 16 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_smmul33_2_load_2_bx3_by16_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 16;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by16_bz1_ssr(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by16_bz1_rsr(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = s[ty] * A[j];
}

static __device__ __forceinline__ void d_ttmul411_2_load_1_bx9_by16_bz1_s(tensor3x3x3x3 T, float *s_T, int tx, int ty, int bx)
{
    tensor3x3x3x3 block_T = T + (size_t)bx * 81 * 16;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_T[i * 9 * 16 + ty * 9 + tx] = block_T[i * 9 * 16 + ty * 9 + tx];
}

static __device__ __forceinline__ void d_ttmul411_2_compute_bx9_by16_bz1_sss(float *T, float *v, float *R, int tx, int ty)
{
    #pragma unroll
    for (int k = 0; k < 3; k++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[ty * 81 + tx * 9 + k * 3 + l] * v[ty * 3 + l];
        R[ty * 27 + tx * 3 + k] = sum;
    }
}

static __device__ __forceinline__ void d_ttmul411_2_save_bx9_by16_bz1_s(float *s_R, tensor3x3x3 R, int tx, int ty, int bx)
{
    tensor3x3x3 block_R = R + (size_t)bx * 27 * 16;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_R[i * 9 * 16 + ty * 9 + tx] = s_R[i * 9 * 16 + ty * 9 + tx];
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx16_by1_bz1_sss(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[tx] = fabsf(sum);
}

// mvmul33, smmul33, smmul33, madd33, vvmulabs3, smimul33, ttmul411: 16 elements a block.
static __global__ void __launch_bounds__(144) case_1(
    int count, float *in_m, float *in_v, float *in_s, float *in_4, float *x4, float *x5, float *x7)
{
    __shared__ __align__(16) float shared[1776];
    float *s_in_m = shared;
    float *s_in_v = shared + 144;
    float *s_x0 = shared + 1728;
    float *s_in_s = shared + 192;
    float r_x1[3];
    float r_x3[3];
    float *s_in_4 = shared;
    float *s_x4 = shared + 1296;
    float *s_x5 = shared;
    float *s_x6 = shared + 192;
    float *s_x7 = shared;
    const int thread = threadIdx.x + 9 * threadIdx.y;

    if (thread < 48) d_mvmul33_2_load_1_bx3_by16_bz1_s(in_m, s_in_m, thread % 3, thread / 3, blockIdx.x);
    if (thread < 48) d_mvmul33_2_load_2_bx3_by16_bz1_s(in_v, s_in_v, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to in_m in the load of in_m
    if (thread < 48) d_mvmul33_2_compute_bx3_by16_bz1_sss(s_in_m, s_in_v, s_x0, thread % 3, thread / 3);
    if (thread < 48) d_smmul33_2_load_2_bx3_by16_bz1_s(in_s, s_in_s, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // smmul33 reads what other threads wrote to in_s in the load of in_s
    if (thread < 48) d_smmul33_2_compute_bx3_by16_bz1_ssr(s_in_m, s_in_s, r_x1, thread % 3, thread / 3);
    if (thread < 48) d_smmul33_2_compute_bx3_by16_bz1_rsr(r_x1, s_in_s, r_x3, thread % 3, thread / 3);
    if (thread < 48) d_madd33_2_compute_bx3_by16_bz1_rrs(r_x1, r_x3, s_x5, thread % 3, thread / 3);
    __syncthreads();  // the save of x5 reads what other threads wrote to x5 in madd33
    if (thread < 48) d_madd33_2_save_bx3_by16_bz1_s(s_x5, x5, thread % 3, thread / 3, blockIdx.x);
    if (thread < 16) d_vvmulabs3_1_compute_bx16_by1_bz1_sss(s_in_v, s_x0, s_x6, thread);
    __syncthreads();  // smimul33 writes x7 where other threads touched x5 in the save of x5
    if (thread < 48) d_smimul33_2_compute_bx3_by16_bz1_ss(s_x6, s_x7, thread % 3, thread / 3);
    __syncthreads();  // the save of x7 reads what other threads wrote to x7 in smimul33
    if (thread < 48) d_smimul33_2_save_bx3_by16_bz1_s(s_x7, x7, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the load of in_4 writes in_4 where other threads touched x7 in the save of x7
    d_ttmul411_2_load_1_bx9_by16_bz1_s(in_4, s_in_4, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // ttmul411 reads what other threads wrote to in_4 in the load of in_4
    d_ttmul411_2_compute_bx9_by16_bz1_sss(s_in_4, s_x0, s_x4, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of x4 reads what other threads wrote to x4 in ttmul411
    d_ttmul411_2_save_bx9_by16_bz1_s(s_x4, x4, threadIdx.x, threadIdx.y, blockIdx.x);
}

// mmul55: 64 elements a block.
static __global__ void __launch_bounds__(64) case_2(int count, float *in_M, float *x2)
{
    __shared__ __align__(16) float shared[3200];
    float *s_in_M = shared;
    float *s_x2 = shared + 1600;

    d_mmul55_1_load_1_bx64_by1_bz1_s(in_M, s_in_M, threadIdx.x, blockIdx.x);
    __syncthreads();  // mmul55 reads what other threads wrote to in_M in the load of in_M
    d_mmul55_1_compute_bx64_by1_bz1_sss(s_in_M, s_in_M, s_x2, threadIdx.x);
    __syncthreads();  // the save of x2 reads what other threads wrote to x2 in mmul55
    d_mmul55_1_save_bx64_by1_bz1_s(s_x2, x2, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *in_m, const float *in_v, const float *in_s, const float *in_4, float *x4,
    float *x5, float *x7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(9, 16, 1);
    case_1<<<(count - 1) / 16 + 1, block, 0, stream>>>(count, const_cast<float *>(in_m), const_cast<float *>(in_v), const_cast<float *>(in_s), const_cast<float *>(in_4), x4, x5, x7);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *in_M, float *x2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_2<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(in_M), x2);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, const float *in_4,
    float *x2, float *x4, float *x5, float *x7, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_v, in_s, in_4, x4, x5, x7, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_M, x2, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, const float *in_4,
    float *x2, float *x4, float *x5, float *x7)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_M = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_in_4 = nullptr;
    float *device_x2 = nullptr;
    float *device_x4 = nullptr;
    float *device_x5 = nullptr;
    float *device_x7 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_4, room * 81 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x2, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x4, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x7, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_m, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_M, 0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_4, 0, room * 81 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x2, 0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x4, 0, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x5, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x7, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_4, in_4, (size_t)count * 81 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_M, device_in_v, device_in_s, device_in_4, device_x2, device_x4, device_x5, device_x7, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x2, device_x2, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x4, device_x4, (size_t)count * 27 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x7, device_x7, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_in_4);
    cudaFree(device_x2);
    cudaFree(device_x4);
    cudaFree(device_x5);
    cudaFree(device_x7);
    cudaFree(workspace);
    return error;
}
