// case: 12 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by32_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_madd55_2_load_1_bx5_by32_bz1_s(matrix5x5 A, float *s_A, int tx, int ty, int bx)
{
    matrix5x5 block_A = A + (size_t)bx * 25 * 32;
    #pragma unroll
    for (int i = 0; i < 5; i++) s_A[i * 5 * 32 + ty * 5 + tx] = block_A[i * 5 * 32 + ty * 5 + tx];
}

static __device__ __forceinline__ void d_madd55_2_compute_bx5_by32_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++)
        C[ty * 25 + tx * 5 + j] = A[ty * 25 + tx * 5 + j] + B[ty * 25 + tx * 5 + j];
}

static __device__ __forceinline__ void d_madd55_2_save_bx5_by32_bz1_s(float *s_C, matrix5x5 C, int tx, int ty, int bx)
{
    matrix5x5 block_C = C + (size_t)bx * 25 * 32;
    #pragma unroll
    for (int i = 0; i < 5; i++) block_C[i * 5 * 32 + ty * 5 + tx] = s_C[i * 5 * 32 + ty * 5 + tx];
}

static __device__ __forceinline__ void d_mmul33_2_compute_bx3_by32_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * B[ty * 9 + k * 3 + j];
        C[ty * 9 + tx * 3 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mmul33_2_save_bx3_by32_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 32 + ty * 3 + tx] = s_C[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_load_2_bx3_by32_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 32;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by32_bz1_sss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smmul33_2_load_2_bx3_by32_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 32;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by32_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by256_bz1_sss(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_svmul3_2_load_2_bx3_by32_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 32;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by32_bz1_sss(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_svmul3_2_save_bx3_by32_bz1_s(float *s_w, vector3 w, int tx, int ty, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * 32;
    block_w[ty * 3 + tx] = s_w[ty * 3 + tx];
}

static __device__ __forceinline__ void d_ttmul3212_2_load_1_bx9_by32_bz1_s(tensor3x3x3 T, float *s_T, int tx, int ty, int bx)
{
    tensor3x3x3 block_T = T + (size_t)bx * 27 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_T[i * 9 * 32 + ty * 9 + tx] = block_T[i * 9 * 32 + ty * 9 + tx];
}

static __device__ __forceinline__ void d_ttmul3212_2_load_2_bx9_by32_bz1_s(matrix3x3 M, float *s_M, int tx, int ty, int bx)
{
    matrix3x3 block_M = M + (size_t)bx * 9 * 32;
    s_M[ty * 9 + tx] = block_M[ty * 9 + tx];
}

static __device__ __forceinline__ void d_ttmul3212_2_compute_bx9_by32_bz1_sss(float *T, float *M, float *R, int tx, int ty)
{
    #pragma unroll
    for (int k = 0; k < 3; k++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[ty * 27 + tx * 3 + l] * M[ty * 9 + k * 3 + l];
        R[ty * 27 + tx * 3 + k] = sum;
    }
}

static __device__ __forceinline__ void d_ttmul3212_2_save_bx9_by32_bz1_s(float *s_R, tensor3x3x3 R, int tx, int ty, int bx)
{
    tensor3x3x3 block_R = R + (size_t)bx * 27 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_R[i * 9 * 32 + ty * 9 + tx] = s_R[i * 9 * 32 + ty * 9 + tx];
}

static __device__ __forceinline__ void d_venorm3_1_load_1_bx256_by1_bz1_s(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 256;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * 256 + tx] = block_v[i * 256 + tx];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_ss(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[tx] = sqrtf(sum);
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_sss(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[tx] = fabsf(sum);
}

static __device__ __forceinline__ void d_vvmulabs3_1_save_bx256_by1_bz1_s(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 256;
    block_s[tx] = s_s[tx];
}

// venorm3, svmul3, vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(int count, float *in_v, float *x5)
{
    __shared__ __align__(16) float shared[1792];
    float *s_in_v = shared;
    float *s_x0 = shared + 1536;
    float *s_x3 = shared + 768;
    float *s_x5 = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;

    if (thread < 256) d_venorm3_1_load_1_bx256_by1_bz1_s(in_v, s_in_v, thread, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 256) d_venorm3_1_compute_bx256_by1_bz1_ss(s_in_v, s_x0, thread);
    __syncthreads();  // the baseline has one after every routine
    d_svmul3_2_compute_bx3_by256_bz1_sss(s_in_v, s_x0, s_x3, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 256) d_vvmulabs3_1_compute_bx256_by1_bz1_sss(s_x3, s_x3, s_x5, thread);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 256) d_vvmulabs3_1_save_bx256_by1_bz1_s(s_x5, x5, thread, blockIdx.x);
}

// ttmul3212, smmul33, mmul33, mmul33, mvmul33, madd33, mmul33, svmul3: 32 elements a block.
static __global__ void __launch_bounds__(288) case_2(
    int count, float *in_3, float *in_m, float *in_s, float *in_v, float *x5, float *x1, float *x10,
    float *x11)
{
    __shared__ __align__(16) float shared[2016];
    float *s_in_3 = shared;
    float *s_in_m = shared + 1728;
    float *s_x1 = shared + 864;
    float *s_in_s = shared + 288;
    float *s_x2 = shared;
    float *s_x4 = shared + 288;
    float *s_x7 = shared + 576;
    float *s_in_v = shared + 288;
    float *s_x8 = shared + 864;
    float *s_x9 = shared + 288;
    float *s_x10 = shared;
    float *s_x5 = shared + 96;
    float *s_x11 = shared;
    const int thread = threadIdx.x + 9 * threadIdx.y;

    d_ttmul3212_2_load_1_bx9_by32_bz1_s(in_3, s_in_3, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_ttmul3212_2_load_2_bx9_by32_bz1_s(in_m, s_in_m, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_ttmul3212_2_compute_bx9_by32_bz1_sss(s_in_3, s_in_m, s_x1, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    d_ttmul3212_2_save_bx9_by32_bz1_s(s_x1, x1, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_smmul33_2_load_2_bx3_by32_bz1_s(in_s, s_in_s, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_smmul33_2_compute_bx3_by32_bz1_sss(s_in_m, s_in_s, s_x2, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_mmul33_2_compute_bx3_by32_bz1_sss(s_in_m, s_x2, s_x4, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_mmul33_2_compute_bx3_by32_bz1_sss(s_x2, s_x4, s_x7, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_mvmul33_2_load_2_bx3_by32_bz1_s(in_v, s_in_v, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_mvmul33_2_compute_bx3_by32_bz1_sss(s_x7, s_in_v, s_x8, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_madd33_2_compute_bx3_by32_bz1_sss(s_x2, s_x7, s_x9, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_mmul33_2_compute_bx3_by32_bz1_sss(s_x9, s_x9, s_x10, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_mmul33_2_save_bx3_by32_bz1_s(s_x10, x10, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_svmul3_2_load_2_bx3_by32_bz1_s(x5, s_x5, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_svmul3_2_compute_bx3_by32_bz1_sss(s_x8, s_x5, s_x11, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 96) d_svmul3_2_save_bx3_by32_bz1_s(s_x11, x11, thread % 3, thread / 3, blockIdx.x);
}

// madd55: 32 elements a block.
static __global__ void __launch_bounds__(160) case_3(int count, float *in_M, float *x6)
{
    __shared__ __align__(16) float shared[1600];
    float *s_in_M = shared;
    float *s_x6 = shared + 800;

    d_madd55_2_load_1_bx5_by32_bz1_s(in_M, s_in_M, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_madd55_2_compute_bx5_by32_bz1_sss(s_in_M, s_in_M, s_x6, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    d_madd55_2_save_bx5_by32_bz1_s(s_x6, x6, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *in_v, float *x5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, const_cast<float *>(in_v), x5);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *in_3, const float *in_m, const float *in_s, const float *in_v, const float *x5,
    float *x1, float *x10, float *x11, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(9, 32, 1);
    case_2<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, const_cast<float *>(in_3), const_cast<float *>(in_m), const_cast<float *>(in_s), const_cast<float *>(in_v), const_cast<float *>(x5), x1, x10, x11);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *in_M, float *x6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(5, 32, 1);
    case_3<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, const_cast<float *>(in_M), x6);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 259) / 4 * 4 * 1 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, const float *in_3,
    float *x1, float *x6, float *x10, float *x11, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_x5 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_v, d_x5, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_3, in_m, in_s, in_v, d_x5, x1, x10, x11, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, in_M, x6, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, const float *in_3,
    float *x1, float *x6, float *x10, float *x11)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 259) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_M = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_in_3 = nullptr;
    float *device_x1 = nullptr;
    float *device_x6 = nullptr;
    float *device_x10 = nullptr;
    float *device_x11 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_3, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x1, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x6, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x10, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x11, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_m, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_M, 0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_3, 0, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x1, 0, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x6, 0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x10, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x11, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_3, in_3, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_M, device_in_v, device_in_s, device_in_3, device_x1, device_x6, device_x10, device_x11, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x1, device_x1, (size_t)count * 27 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x6, device_x6, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x10, device_x10, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x11, device_x11, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_in_3);
    cudaFree(device_x1);
    cudaFree(device_x6);
    cudaFree(device_x10);
    cudaFree(device_x11);
    cudaFree(workspace);
    return error;
}
