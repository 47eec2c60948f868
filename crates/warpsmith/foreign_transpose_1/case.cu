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
typedef float *matrix4x4; // warpsmith: elements 16
typedef float *quaternion; // warpsmith: elements 4
typedef float *vector7; // warpsmith: elements 7

static __device__ __forceinline__ void d_mmul33_2_load_2_bx3_by32_bz1_s(matrix3x3 B, float *s_B, int tx, int ty, int bx)
{
    matrix3x3 block_B = B + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_B[i * 3 * 32 + ty * 3 + tx] = block_B[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mmul33_2_compute_bx3_by32_bz1_rss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[k] * B[ty * 9 + k * 3 + j];
        C[ty * 9 + tx * 3 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mmul33_2_save_bx3_by32_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 32 + ty * 3 + tx] = s_C[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mtrans33_a_load_1_bx3_by32_bz1_s(matrix3x3 g, float *s, int tx, int ty, int bx) {
    for (int i = 0; i < 3; ++i) s[ty * 3 + tx + i * 3 * 32] = g[bx * 9 * 32 + ty * 3 + tx + i * 3 * 32];
}

static __device__ __forceinline__ void d_mtrans33_a_compute_bx3_by32_bz1_sr(float *in, float *out, int tx, int ty) {
    // row tx of the result is column tx of the input
    #pragma unroll
    for (int i = 0; i < 3; ++i) out[i] = in[ty * 9 + i * 3 + tx];
}

static __device__ __forceinline__ void d_mtrans33_a_compute_bx3_by32_bz1_ss(float *in, float *out, int tx, int ty) {
    // row tx of the result is column tx of the input
    for (int i = 0; i < 3; ++i) out[ty * 9 + tx * 3 + i] = in[ty * 9 + i * 3 + tx];
}

static __device__ __forceinline__ void d_mtrans33_a_save_bx3_by32_bz1_s(float *s, matrix3x3 g, int tx, int ty, int bx) {
    for (int i = 0; i < 3; ++i) g[bx * 9 * 32 + ty * 3 + tx + i * 3 * 32] = s[ty * 3 + tx + i * 3 * 32];
}

// mtrans33, mmul33, mtrans33: 32 elements a block.
static __global__ void __launch_bounds__(96) case_1(int count, float *A, float *B, float *D, float *C)
{
    __shared__ __align__(16) float shared[576];
    float *s_A = shared;
    float r_C_2[3];
    float *s_B = shared;
    float *s_D = shared + 288;
    float *s_C = shared;

    d_mtrans33_a_load_1_bx3_by32_bz1_s(A, s_A, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // mtrans33 reads what other threads wrote to A in the load of A
    d_mtrans33_a_compute_bx3_by32_bz1_sr(s_A, r_C_2, threadIdx.x, threadIdx.y);
    __syncthreads();  // the load of B writes B where other threads touched A in mtrans33
    d_mmul33_2_load_2_bx3_by32_bz1_s(B, s_B, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // mmul33 reads what other threads wrote to B in the load of B
    d_mmul33_2_compute_bx3_by32_bz1_rss(r_C_2, s_B, s_D, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of D reads what other threads wrote to D in mmul33
    d_mmul33_2_save_bx3_by32_bz1_s(s_D, D, threadIdx.x, threadIdx.y, blockIdx.x);
    d_mtrans33_a_compute_bx3_by32_bz1_ss(s_D, s_C, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of C#2 reads what other threads wrote to C#2 in mtrans33
    d_mtrans33_a_save_bx3_by32_bz1_s(s_C, C, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *D, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 32, 1);
    case_1<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(B), D, C);
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
    const size_t room = ((size_t)count + 35) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_C = nullptr;
    float *device_D = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_D, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_C, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_D, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_C, device_D, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(D, device_D, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_D);
    cudaFree(workspace);
    return error;
}
