// case: 15 calls of elementary functions in 2 kernels.
// Made for sm_90.

#include <cuda_runtime.h>

#include "case.h"

// Brings the floats of an element to the registers of its thread; they stand `pitch` floats apart.
template <int SIZE>
static __device__ __forceinline__ void load_own(float *own, const float *global, size_t pitch)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) own[k] = __ldcs(global);
}

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_rrr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[i];
}

// madd33, madd33, madd33, madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A_2, const float *__restrict__ B_2, float *C_3, float *A_5)
{
    float r_A_2[9];
    float r_B_2[9];
    float r_C[9];
    float r_A_3[9];
    float r_B_3[9];
    float r_C_2[9];
    float r_A_4[9];
    float r_B_4[9];
    float r_C_3[9];
    float r_A_5[9];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_A_2, A_2 + first + min(thread, here - 1), count);
    load_own<9>(r_B_2, B_2 + first + min(thread, here - 1), count);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_A_2, r_B_2, r_C, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_2, r_B_2, r_A_3, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_C, r_A_3, r_B_3, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_A_3, r_B_3, r_C_2, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_3, r_B_3, r_A_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_C_2, r_A_4, r_B_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_A_4, r_B_4, r_C_3, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_4, r_B_4, r_A_5, threadIdx.x);
    save_own<9>(C_3 + first + thread, r_C_3, count, thread < here);
    save_own<9>(A_5 + first + thread, r_A_5, count, thread < here);
}

// madd33, madd33, madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ C_3, const float *__restrict__ A_5, float *A_7, float *B_7)
{
    float r_C_3[9];
    float r_A_5[9];
    float r_B_5[9];
    float r_C_4[9];
    float r_A_6[9];
    float r_B_6[9];
    float r_C_5[9];
    float r_A_7[9];
    float r_B_7[9];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_C_3, C_3 + first + min(thread, here - 1), count);
    load_own<9>(r_A_5, A_5 + first + min(thread, here - 1), count);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_C_3, r_A_5, r_B_5, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_A_5, r_B_5, r_C_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_5, r_B_5, r_A_6, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_C_4, r_A_6, r_B_6, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_A_6, r_B_6, r_C_5, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_6, r_B_6, r_A_7, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_C_5, r_A_7, r_B_7, threadIdx.x);
    save_own<9>(A_7 + first + thread, r_A_7, count, thread < here);
    save_own<9>(B_7 + first + thread, r_B_7, count, thread < here);
}

cudaError_t case_1_launch(
    int count, const float *A_2, const float *B_2, float *C_3, float *A_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_2, B_2, C_3, A_5);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *C_3, const float *A_5, float *A_7, float *B_7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, C_3, A_5, A_7, B_7);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 36 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *A_out, float *B_out, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
