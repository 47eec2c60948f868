// case: 10 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_mvmul33_1_load_1_bx64_by1_bz1_s(matrix3x3 A, float *s_A, int tx, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * 64 + tx] = block_A[i * 64 + tx];
}

static __device__ __forceinline__ void d_mvmul33_1_load_2_bx64_by1_bz1_s(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * 64 + tx] = block_v[i * 64 + tx];
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx64_by1_bz1_ssr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx64_by1_bz1_srr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx64_by1_bz1_srs(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[k];
        w[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_1_save_bx64_by1_bz1_s(float *s_w, vector3 w, int tx, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_w[i * 64 + tx] = s_w[i * 64 + tx];
}

static __device__ __forceinline__ void d_smimul33_1_load_1_bx64_by1_bz1_r(scalar s, float *s_s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    s_s[0] = block_s[tx];
}

static __device__ __forceinline__ void d_smimul33_1_compute_bx64_by1_bz1_rs(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = i % 4 == 0 ? s[0] : 0.0f;
}

static __device__ __forceinline__ void d_smimul33_1_save_bx64_by1_bz1_s(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * 64 + tx] = s_C[i * 64 + tx];
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx64_by1_bz1_rrr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx96_by1_bz1_srs(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[0] * v[tx * 3 + i];
}

static __device__ __forceinline__ void d_svmul3_1_save_bx96_by1_bz1_s(float *s_w, vector3 w, int tx, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * 96;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_w[i * 96 + tx] = s_w[i * 96 + tx];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx64_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_venorm3_1_load_1_bx96_by1_bz1_s(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 96;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * 96 + tx] = block_v[i * 96 + tx];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx96_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_venorm3_1_save_bx96_by1_bz1_r(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 96;
    block_s[tx] = s_s[0];
}

// mvmul33, venorm3, svmul3, mvmul33, venorm3, svmul3, mvmul33: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *A, float *v_2, float *v_7)
{
    __shared__ __align__(16) float shared[768];
    float *s_A = shared;
    float *s_v_2 = shared + 576;
    float r_v_3[3];
    float r_s_2[1];
    float r_v_4[3];
    float r_v_5[3];
    float r_s_4[1];
    float r_v_6[3];
    float *s_v_7 = shared + 576;

    d_mvmul33_1_load_1_bx64_by1_bz1_s(A, s_A, threadIdx.x, blockIdx.x);
    d_mvmul33_1_load_2_bx64_by1_bz1_s(v_2, s_v_2, threadIdx.x, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to A in the load of A
    d_mvmul33_1_compute_bx64_by1_bz1_ssr(s_A, s_v_2, r_v_3, threadIdx.x);
    d_venorm3_1_compute_bx64_by1_bz1_rr(r_v_3, r_s_2, threadIdx.x);
    d_svmul3_1_compute_bx64_by1_bz1_rrr(r_v_3, r_s_2, r_v_4, threadIdx.x);
    d_mvmul33_1_compute_bx64_by1_bz1_srr(s_A, r_v_4, r_v_5, threadIdx.x);
    d_venorm3_1_compute_bx64_by1_bz1_rr(r_v_5, r_s_4, threadIdx.x);
    d_svmul3_1_compute_bx64_by1_bz1_rrr(r_v_5, r_s_4, r_v_6, threadIdx.x);
    d_mvmul33_1_compute_bx64_by1_bz1_srs(s_A, r_v_6, s_v_7, threadIdx.x);
    __syncthreads();  // the save of v#7 reads what other threads wrote to v#7 in mvmul33
    d_mvmul33_1_save_bx64_by1_bz1_s(s_v_7, v_7, threadIdx.x, blockIdx.x);
}

// venorm3, svmul3: 96 elements a block.
static __global__ void __launch_bounds__(96) case_2(int count, float *v_7, float *s_6, float *v_8)
{
    __shared__ __align__(16) float shared[576];
    float *s_v_7 = shared;
    float r_s_6[1];
    float *s_v_8 = shared + 288;

    d_venorm3_1_load_1_bx96_by1_bz1_s(v_7, s_v_7, threadIdx.x, blockIdx.x);
    __syncthreads();  // venorm3 reads what other threads wrote to v#7 in the load of v#7
    d_venorm3_1_compute_bx96_by1_bz1_sr(s_v_7, r_s_6, threadIdx.x);
    d_venorm3_1_save_bx96_by1_bz1_r(r_s_6, s_6, threadIdx.x, blockIdx.x);
    d_svmul3_1_compute_bx96_by1_bz1_srs(s_v_7, r_s_6, s_v_8, threadIdx.x);
    __syncthreads();  // the save of v#8 reads what other threads wrote to v#8 in svmul3
    d_svmul3_1_save_bx96_by1_bz1_s(s_v_8, v_8, threadIdx.x, blockIdx.x);
}

// smimul33: 64 elements a block.
static __global__ void __launch_bounds__(64) case_3(int count, float *s_7, float *B)
{
    __shared__ __align__(16) float shared[576];
    float r_s_7[1];
    float *s_B = shared;

    d_smimul33_1_load_1_bx64_by1_bz1_r(s_7, r_s_7, threadIdx.x, blockIdx.x);
    d_smimul33_1_compute_bx64_by1_bz1_rs(r_s_7, s_B, threadIdx.x);
    __syncthreads();  // the save of B reads what other threads wrote to B in smimul33
    d_smimul33_1_save_bx64_by1_bz1_s(s_B, B, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *A, const float *v_2, float *v_7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(v_2), v_7);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *v_7, float *s_6, float *v_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(96, 1, 1);
    case_2<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, const_cast<float *>(v_7), s_6, v_8);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *s_7, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_3<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(s_7), B);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 99) / 4 * 4 * 7 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *v, float *v_out, float *B, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 99) / 4 * 4;
    float *d_v_2 = workspace;
    float *d_v_7 = workspace + room * 3;
    float *d_s_6 = workspace + room * 6;
    cudaError_t error = cudaSuccess;
    const float *p_v_2 = v;
    for (int i1 = 0; i1 < 10; i1++) {
        float *n_v_2 = i1 % 2 == 0 ? d_v_2 : v_out;
        error = case_1_launch(count, A, p_v_2, d_v_7, stream);
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
    const size_t room = ((size_t)count + 99) / 4 * 4;
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
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v_out, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
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
