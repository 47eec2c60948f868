// case: 3 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_madd33_1_load_1_bx64_by1_bz1_s(matrix3x3 A, float *s_A, int tx, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * 64 + tx] = block_A[i * 64 + tx];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_save_bx64_by1_bz1_s(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * 64 + tx] = s_C[i * 64 + tx];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_srs(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[i];
}

// madd33, madd33, madd33: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *in_m, float *x0, float *x2)
{
    __shared__ __align__(16) float shared[1152];
    float *s_in_m = shared;
    float *s_x0 = shared + 576;
    float r_x1[9];
    float *s_x2 = shared;

    d_madd33_1_load_1_bx64_by1_bz1_s(in_m, s_in_m, threadIdx.x, blockIdx.x);
    __syncthreads();  // madd33 reads what other threads wrote to in_m in the load of in_m
    d_madd33_1_compute_bx64_by1_bz1_sss(s_in_m, s_in_m, s_x0, threadIdx.x);
    __syncthreads();  // the save of x0 reads what other threads wrote to x0 in madd33
    d_madd33_1_save_bx64_by1_bz1_s(s_x0, x0, threadIdx.x, blockIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_ssr(s_x0, s_in_m, r_x1, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_srs(s_x0, r_x1, s_x2, threadIdx.x);
    __syncthreads();  // the save of x2 reads what other threads wrote to x2 in madd33
    d_madd33_1_save_bx64_by1_bz1_s(s_x2, x2, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *in_m, float *x0, float *x2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(in_m), x0, x2);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, float *x2, float *x0, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, x0, x2, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *in_m, float *x2, float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_x2 = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x2, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_m, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x2, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x0, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_x2, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x2, device_x2, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_x2);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
