// case: 10 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_rrr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_smimul33_1_compute_bx256_by1_bz1_rr(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = i % 4 == 0 ? s[0] : 0.0f;
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_rrr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

// mvmul33, venorm3, svmul3, mvmul33, venorm3, svmul3, mvmul33, venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ v_2, float *v_7, float *s_6)
{
    float r_A[9];
    float r_v_2[3];
    float r_v_3[3];
    float r_s_2[1];
    float r_v_4[3];
    float r_v_5[3];
    float r_s_4[1];
    float r_v_6[3];
    float r_v_7[3];
    float r_s_6[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_A, A + first + min(thread, here - 1), count);
    load_own<3>(r_v_2, v_2 + first + min(thread, here - 1), count);
    d_mvmul33_1_compute_bx256_by1_bz1_rrr(r_A, r_v_2, r_v_3, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_rr(r_v_3, r_s_2, threadIdx.x);
    d_svmul3_1_compute_bx256_by1_bz1_rrr(r_v_3, r_s_2, r_v_4, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_rrr(r_A, r_v_4, r_v_5, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_rr(r_v_5, r_s_4, threadIdx.x);
    d_svmul3_1_compute_bx256_by1_bz1_rrr(r_v_5, r_s_4, r_v_6, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_rrr(r_A, r_v_6, r_v_7, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_rr(r_v_7, r_s_6, threadIdx.x);
    save_own<3>(v_7 + first + thread, r_v_7, count, thread < here);
    save_own<1>(s_6 + first + thread, r_s_6, count, thread < here);
}

// svmul3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ v_7, const float *__restrict__ s_6, float *v_8)
{
    float r_v_7[3];
    float r_s_6[1];
    float r_v_8[3];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<3>(r_v_7, v_7 + first + min(thread, here - 1), count);
    load_own<1>(r_s_6, s_6 + first + min(thread, here - 1), count);
    d_svmul3_1_compute_bx256_by1_bz1_rrr(r_v_7, r_s_6, r_v_8, threadIdx.x);
    save_own<3>(v_8 + first + thread, r_v_8, count, thread < here);
}

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(int count, const float *__restrict__ s_7, float *B)
{
    float r_s_7[1];
    float r_B[9];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<1>(r_s_7, s_7 + first + min(thread, here - 1), count);
    d_smimul33_1_compute_bx256_by1_bz1_rr(r_s_7, r_B, threadIdx.x);
    save_own<9>(B + first + thread, r_B, count, thread < here);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *v_2, float *v_7, float *s_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, v_2, v_7, s_6);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *v_7, const float *s_6, float *v_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v_7, s_6, v_8);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *s_7, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, s_7, B);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 7 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *v, float *v_out, float *B, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_v_2 = workspace;
    float *d_v_7 = workspace + room * 3;
    float *d_s_6 = workspace + room * 6;
    cudaError_t error = cudaSuccess;
    const float *p_v_2 = v;
    for (int i1 = 0; i1 < 10; i1++) {
        float *n_v_2 = i1 % 2 == 0 ? d_v_2 : v_out;
        error = case_1_launch(count, A, p_v_2, d_v_7, d_s_6, stream);
        if (error != cudaSuccess) return error;
        error = case_2_launch(count, d_v_7, d_s_6, n_v_2, stream);
        if (error != cudaSuccess) return error;
        p_v_2 = n_v_2;
    }
    error = case_3_launch(count, d_s_6, B, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *v, float *v_out, float *B)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_v = nullptr;
    float *device_v_out = nullptr;
    float *device_B = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_v, device_v_out, device_B, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_v);
    cudaFree(device_v_out);
    cudaFree(device_B);
    cudaFree(workspace);
    return error;
}
