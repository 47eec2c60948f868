// case: 9 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_madd55_2_compute_bx5_by64_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++)
        C[ty * 25 + tx * 5 + j] = A[ty * 25 + tx * 5 + j] + B[ty * 25 + tx * 5 + j];
}

static __device__ __forceinline__ void d_mmul33_2_compute_bx3_by64_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * B[ty * 9 + k * 3 + j];
        C[ty * 9 + tx * 3 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mmul33_2_save_bx3_by64_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 64 + ty * 3 + tx] = s_C[i * 3 * 64 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mmul55_2_compute_bx5_by64_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 5; k++) sum += A[ty * 25 + tx * 5 + k] * B[ty * 25 + k * 5 + j];
        C[ty * 25 + tx * 5 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mmul55_2_save_bx5_by64_bz1_s(float *s_C, matrix5x5 C, int tx, int ty, int bx)
{
    matrix5x5 block_C = C + (size_t)bx * 25 * 64;
    #pragma unroll
    for (int i = 0; i < 5; i++) block_C[i * 5 * 64 + ty * 5 + tx] = s_C[i * 5 * 64 + ty * 5 + tx];
}

static __device__ __forceinline__ void d_smmul33_2_load_1_bx3_by64_bz1_s(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * 64 + ty * 3 + tx] = block_A[i * 3 * 64 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_smmul33_2_load_2_bx3_by64_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by64_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_smmul33_2_save_bx3_by64_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 64 + ty * 3 + tx] = s_C[i * 3 * 64 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_smmul55_2_load_1_bx5_by64_bz1_s(matrix5x5 A, float *s_A, int tx, int ty, int bx)
{
    matrix5x5 block_A = A + (size_t)bx * 25 * 64;
    #pragma unroll
    for (int i = 0; i < 5; i++) s_A[i * 5 * 64 + ty * 5 + tx] = block_A[i * 5 * 64 + ty * 5 + tx];
}

static __device__ __forceinline__ void d_smmul55_2_compute_bx5_by64_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++) C[ty * 25 + tx * 5 + j] = s[ty] * A[ty * 25 + tx * 5 + j];
}

static __device__ __forceinline__ void d_svmul3_2_load_1_bx3_by64_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 64;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_svmul3_2_load_2_bx3_by64_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by64_bz1_sss(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_svmul3_2_save_bx3_by64_bz1_s(float *s_w, vector3 w, int tx, int ty, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * 64;
    block_w[ty * 3 + tx] = s_w[ty * 3 + tx];
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

static __device__ __forceinline__ void d_venorm3_1_save_bx256_by1_bz1_s(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 256;
    block_s[tx] = s_s[tx];
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, float *in_v, float *x4)
{
    __shared__ __align__(16) float shared[1024];
    float *s_in_v = shared;
    float *s_x4 = shared + 768;

    d_venorm3_1_load_1_bx256_by1_bz1_s(in_v, s_in_v, threadIdx.x, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_venorm3_1_compute_bx256_by1_bz1_ss(s_in_v, s_x4, threadIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_venorm3_1_save_bx256_by1_bz1_s(s_x4, x4, threadIdx.x, blockIdx.x);
}

// smmul33, mmul33, mmul33, smmul55, svmul3, smmul33, madd55, mmul55: 64 elements a block.
static __global__ void __launch_bounds__(320) case_2(
    int count, float *in_m, float *in_s, float *in_M, float *in_v, float *x4, float *x0, float *x5, float *x6,
    float *x7, float *x8)
{
    __shared__ __align__(16) float shared[4800];
    float *s_in_m = shared;
    float *s_in_s = shared + 3776;
    float *s_x0 = shared + 576;
    float *s_in_M = shared;
    float *s_x1 = shared + 1600;
    float *s_x2 = shared + 3200;
    float *s_x3 = shared + 3200;
    float *s_x5 = shared;
    float *s_in_v = shared + 3776;
    float *s_x4 = shared + 4352;
    float *s_x6 = shared + 3968;
    float *s_x7 = shared + 3776;
    float *s_x8 = shared;
    const int thread = threadIdx.x + 5 * threadIdx.y;

    if (thread < 192) d_smmul33_2_load_1_bx3_by64_bz1_s(in_m, s_in_m, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_smmul33_2_load_2_bx3_by64_bz1_s(in_s, s_in_s, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_smmul33_2_compute_bx3_by64_bz1_sss(s_in_m, s_in_s, s_x0, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_smmul33_2_save_bx3_by64_bz1_s(s_x0, x0, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_mmul33_2_compute_bx3_by64_bz1_sss(s_in_m, s_x0, s_x3, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_mmul33_2_compute_bx3_by64_bz1_sss(s_x0, s_x3, s_x5, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_mmul33_2_save_bx3_by64_bz1_s(s_x5, x5, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_smmul55_2_load_1_bx5_by64_bz1_s(in_M, s_in_M, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_smmul55_2_compute_bx5_by64_bz1_sss(s_in_M, s_in_s, s_x1, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_svmul3_2_load_1_bx3_by64_bz1_s(in_v, s_in_v, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_svmul3_2_load_2_bx3_by64_bz1_s(x4, s_x4, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_svmul3_2_compute_bx3_by64_bz1_sss(s_in_v, s_x4, s_x6, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_svmul3_2_save_bx3_by64_bz1_s(s_x6, x6, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_smmul33_2_compute_bx3_by64_bz1_sss(s_x3, s_x4, s_x7, thread % 3, thread / 3);
    __syncthreads();  // the baseline has one after every routine
    if (thread < 192) d_smmul33_2_save_bx3_by64_bz1_s(s_x7, x7, thread % 3, thread / 3, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_madd55_2_compute_bx5_by64_bz1_sss(s_in_M, s_x1, s_x2, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    d_mmul55_2_compute_bx5_by64_bz1_sss(s_x2, s_x2, s_x8, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    d_mmul55_2_save_bx5_by64_bz1_s(s_x8, x8, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *in_v, float *x4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, const_cast<float *>(in_v), x4);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *in_m, const float *in_s, const float *in_M, const float *in_v, const float *x4,
    float *x0, float *x5, float *x6, float *x7, float *x8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(5, 64, 1);
    case_2<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(in_m), const_cast<float *>(in_s), const_cast<float *>(in_M), const_cast<float *>(in_v), const_cast<float *>(x4), x0, x5, x6, x7, x8);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 259) / 4 * 4 * 1 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, float *x5,
    float *x6, float *x7, float *x8, float *x0, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_x4 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_v, d_x4, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_m, in_s, in_M, in_v, d_x4, x0, x5, x6, x7, x8, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, float *x5,
    float *x6, float *x7, float *x8, float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 259) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_M = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_x5 = nullptr;
    float *device_x6 = nullptr;
    float *device_x7 = nullptr;
    float *device_x8 = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x6, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x7, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x8, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_m, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_M, 0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x5, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x6, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x7, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x8, 0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x0, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_M, device_in_v, device_in_s, device_x5, device_x6, device_x7, device_x8, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x6, device_x6, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x7, device_x7, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x8, device_x8, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x5);
    cudaFree(device_x6);
    cudaFree(device_x7);
    cudaFree(device_x8);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
