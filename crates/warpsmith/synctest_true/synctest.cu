// synctest: 4 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>

#include "synctest.h"

// The element types: each a pointer to float, and the number of floats that one element has. Element e of an array of
// 3x3 matrices begins at offset 9 * e; rows follow one another.

typedef float *scalar;         // warpsmith: elements 1
typedef float *vector3;        // warpsmith: elements 3
typedef float *matrix3x3;      // warpsmith: elements 9
typedef float *matrix5x5;      // warpsmith: elements 25
typedef float *tensor3x3x3;    // warpsmith: elements 27
typedef float *tensor3x3x3x3;  // warpsmith: elements 81

static __device__ __forceinline__ void d_madd33_2_load_1_bx3_by64_bz1_s(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * 64 + ty * 3 + tx] = block_A[i * 3 * 64 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by64_bz1_ssr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by64_bz1_srr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by64_bz1_srs(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[ty * 9 + tx * 3 + j] + B[j];
}

static __device__ __forceinline__ void d_madd33_2_save_bx3_by64_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 64 + ty * 3 + tx] = s_C[i * 3 * 64 + ty * 3 + tx];
}

// madd33, madd33, madd33, madd33: 64 elements a block.
static __global__ void __launch_bounds__(192) synctest_1(int count, float *A, float *B)
{
    __shared__ __align__(16) float shared[1152];
    float *s_A = shared;
    float r_B_2[3];
    float r_B_3[3];
    float r_B_4[3];
    float *s_B = shared + 576;

    d_madd33_2_load_1_bx3_by64_bz1_s(A, s_A, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_2_compute_bx3_by64_bz1_ssr(s_A, s_A, r_B_2, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by64_bz1_srr(s_A, r_B_2, r_B_3, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by64_bz1_srr(s_A, r_B_3, r_B_4, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by64_bz1_srs(s_A, r_B_4, s_B, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#4 reads what other threads wrote to B#4 in madd33
    d_madd33_2_save_bx3_by64_bz1_s(s_B, B, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t synctest_1_launch(int count, const float *A, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 64, 1);
    synctest_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(A), B);
    return cudaGetLastError();
}

size_t synctest_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t synctest_launch(int count, const float *A, float *B, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = synctest_1_launch(count, A, B, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t synctest_host(int count, const float *A, float *B)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = synctest_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = synctest_launch(count, device_A, device_B, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(workspace);
    return error;
}
