// case: 15 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_madd33_1_load_1_bx64_by1_bz1_s(matrix3x3 A, float *s_A, int tx, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * 64 + tx] = block_A[i * 64 + tx];
}

static __device__ __forceinline__ void d_madd33_1_load_2_bx64_by1_bz1_s(matrix3x3 B, float *s_B, int tx, int bx)
{
    matrix3x3 block_B = B + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_B[i * 64 + tx] = block_B[i * 64 + tx];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_rrr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_rrs(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[i] + B[i];
}

static __device__ __forceinline__ void d_madd33_1_save_bx64_by1_bz1_s(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * 64 + tx] = s_C[i * 64 + tx];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_srr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx64_by1_bz1_rss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[i] + B[tx * 9 + i];
}

// madd33, madd33, madd33, madd33, madd33, madd33, madd33, madd33: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *A_2, float *B_2, float *C_3, float *A_5)
{
    __shared__ __align__(16) float shared[1152];
    float *s_A_2 = shared;
    float *s_B_2 = shared + 576;
    float r_C[9];
    float r_A_3[9];
    float r_B_3[9];
    float r_C_2[9];
    float r_A_4[9];
    float r_B_4[9];
    float *s_C_3 = shared;
    float *s_A_5 = shared;

    d_madd33_1_load_1_bx64_by1_bz1_s(A_2, s_A_2, threadIdx.x, blockIdx.x);
    d_madd33_1_load_2_bx64_by1_bz1_s(B_2, s_B_2, threadIdx.x, blockIdx.x);
    __syncthreads();  // madd33 reads what other threads wrote to A#2 in the load of A#2
    d_madd33_1_compute_bx64_by1_bz1_ssr(s_A_2, s_B_2, r_C, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_ssr(s_B_2, s_B_2, r_A_3, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrr(r_C, r_A_3, r_B_3, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrr(r_A_3, r_B_3, r_C_2, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrr(r_B_3, r_B_3, r_A_4, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrr(r_C_2, r_A_4, r_B_4, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrs(r_A_4, r_B_4, s_C_3, threadIdx.x);
    __syncthreads();  // the save of C#3 reads what other threads wrote to C#3 in madd33
    d_madd33_1_save_bx64_by1_bz1_s(s_C_3, C_3, threadIdx.x, blockIdx.x);
    __syncthreads();  // madd33 writes A#5 where other threads touched C#3 in the save of C#3
    d_madd33_1_compute_bx64_by1_bz1_rrs(r_B_4, r_B_4, s_A_5, threadIdx.x);
    __syncthreads();  // the save of A#5 reads what other threads wrote to A#5 in madd33
    d_madd33_1_save_bx64_by1_bz1_s(s_A_5, A_5, threadIdx.x, blockIdx.x);
}

// madd33, madd33, madd33, madd33, madd33, madd33, madd33: 64 elements a block.
static __global__ void __launch_bounds__(64) case_2(int count, float *C_3, float *A_5, float *A_7, float *B_7)
{
    __shared__ __align__(16) float shared[1152];
    float *s_C_3 = shared;
    float *s_A_5 = shared + 576;
    float r_B_5[9];
    float r_C_4[9];
    float r_A_6[9];
    float r_B_6[9];
    float r_C_5[9];
    float *s_A_7 = shared;
    float *s_B_7 = shared + 576;

    d_madd33_1_load_1_bx64_by1_bz1_s(C_3, s_C_3, threadIdx.x, blockIdx.x);
    d_madd33_1_load_2_bx64_by1_bz1_s(A_5, s_A_5, threadIdx.x, blockIdx.x);
    __syncthreads();  // madd33 reads what other threads wrote to C#3 in the load of C#3
    d_madd33_1_compute_bx64_by1_bz1_ssr(s_C_3, s_A_5, r_B_5, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_srr(s_A_5, r_B_5, r_C_4, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrr(r_B_5, r_B_5, r_A_6, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrr(r_C_4, r_A_6, r_B_6, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrr(r_A_6, r_B_6, r_C_5, threadIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rrs(r_B_6, r_B_6, s_A_7, threadIdx.x);
    __syncthreads();  // the save of A#7 reads what other threads wrote to A#7 in madd33
    d_madd33_1_save_bx64_by1_bz1_s(s_A_7, A_7, threadIdx.x, blockIdx.x);
    d_madd33_1_compute_bx64_by1_bz1_rss(r_C_5, s_A_7, s_B_7, threadIdx.x);
    __syncthreads();  // the save of B#7 reads what other threads wrote to B#7 in madd33
    d_madd33_1_save_bx64_by1_bz1_s(s_B_7, B_7, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *A_2, const float *B_2, float *C_3, float *A_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(A_2), const_cast<float *>(B_2), C_3, A_5);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *C_3, const float *A_5, float *A_7, float *B_7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_2<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(C_3), const_cast<float *>(A_5), A_7, B_7);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 67) / 4 * 4 * 36 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *A_out, float *B_out, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    float *d_A_2 = workspace;
    float *d_B_2 = workspace + room * 9;
    float *d_C_3 = workspace + room * 18;
    float *d_A_5 = workspace + room * 27;
    cudaError_t error = cudaSuccess;
    const float *p_A_2 = A;
    const float *p_B_2 = B;
    for (int i1 = 0; i1 < 5; i1++) {
        float *n_A_2 = i1 % 2 == 0 ? A_out : d_A_2;
        float *n_B_2 = i1 % 2 == 0 ? B_out : d_B_2;
        error = case_1_launch(count, p_A_2, p_B_2, d_C_3, d_A_5, stream);
        if (error != cudaSuccess) return error;
        error = case_2_launch(count, d_C_3, d_A_5, n_A_2, n_B_2, stream);
        if (error != cudaSuccess) return error;
        p_A_2 = n_A_2;
        p_B_2 = n_B_2;
    }
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *A_out, float *B_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_A_out = nullptr;
    float *device_B_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_A_out, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B_out, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_A_out, device_B_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_A_out);
    cudaFree(device_B_out);
    cudaFree(workspace);
    return error;
}
