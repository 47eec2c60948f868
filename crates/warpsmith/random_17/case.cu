// case: 6 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_madd33_2_load_1_bx3_by32_bz1_s(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * 32 + ty * 3 + tx] = block_A[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by32_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_madd33_2_save_bx3_by32_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 32 + ty * 3 + tx] = s_C[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mmul33_2_compute_bx3_by32_bz1_ssr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * B[ty * 9 + k * 3 + j];
        C[j] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_2_load_2_bx3_by32_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 32;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by32_bz1_rss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smmul33_2_load_2_bx3_by32_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 32;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by32_bz1_rss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[j];
}

static __device__ __forceinline__ void d_ttmul311_2_load_1_bx3_by32_bz1_s(tensor3x3x3 T, float *s_T, int tx, int ty, int bx)
{
    tensor3x3x3 block_T = T + (size_t)bx * 27 * 32;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_T[i * 3 * 32 + ty * 3 + tx] = block_T[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_ttmul311_2_compute_bx3_by32_bz1_sss(float *T, float *v, float *R, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += T[ty * 27 + tx * 9 + j * 3 + k] * v[ty * 3 + k];
        R[ty * 9 + tx * 3 + j] = sum;
    }
}

static __device__ __forceinline__ void d_ttmul311_2_save_bx3_by32_bz1_s(float *s_R, matrix3x3 R, int tx, int ty, int bx)
{
    matrix3x3 block_R = R + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_R[i * 3 * 32 + ty * 3 + tx] = s_R[i * 3 * 32 + ty * 3 + tx];
}

// madd33, mmul33, smmul33, mmul33, mvmul33, ttmul311: 32 elements a block.
static __global__ void __launch_bounds__(96) case_1(
    int count, float *in_m, float *in_s, float *in_v, float *in_3, float *x0, float *x5)
{
    __shared__ __align__(16) float shared[1248];
    float *s_in_m = shared;
    float *s_x0 = shared + 288;
    float r_x1[3];
    float *s_in_s = shared + 576;
    float *s_x2 = shared;
    float r_x3[3];
    float *s_in_v = shared;
    float *s_x4 = shared + 1152;
    float *s_in_3 = shared;
    float *s_x5 = shared + 864;

    d_madd33_2_load_1_bx3_by32_bz1_s(in_m, s_in_m, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // madd33 reads what other threads wrote to in_m in the load of in_m
    d_madd33_2_compute_bx3_by32_bz1_sss(s_in_m, s_in_m, s_x0, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of x0 reads what other threads wrote to x0 in madd33
    d_madd33_2_save_bx3_by32_bz1_s(s_x0, x0, threadIdx.x, threadIdx.y, blockIdx.x);
    d_mmul33_2_compute_bx3_by32_bz1_ssr(s_x0, s_in_m, r_x1, threadIdx.x, threadIdx.y);
    d_smmul33_2_load_2_bx3_by32_bz1_s(in_s, s_in_s, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // smmul33 writes x2 where other threads touched in_m in mmul33
    d_smmul33_2_compute_bx3_by32_bz1_rss(r_x1, s_in_s, s_x2, threadIdx.x, threadIdx.y);
    __syncthreads();  // mmul33 reads what other threads wrote to x2 in smmul33
    d_mmul33_2_compute_bx3_by32_bz1_ssr(s_x0, s_x2, r_x3, threadIdx.x, threadIdx.y);
    __syncthreads();  // the load of in_v writes in_v where other threads touched x2 in mmul33
    d_mvmul33_2_load_2_bx3_by32_bz1_s(in_v, s_in_v, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to in_v in the load of in_v
    d_mvmul33_2_compute_bx3_by32_bz1_rss(r_x3, s_in_v, s_x4, threadIdx.x, threadIdx.y);
    __syncthreads();  // the load of in_3 writes in_3 where other threads touched in_v in mvmul33
    d_ttmul311_2_load_1_bx3_by32_bz1_s(in_3, s_in_3, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // ttmul311 reads what other threads wrote to in_3 in the load of in_3
    d_ttmul311_2_compute_bx3_by32_bz1_sss(s_in_3, s_x4, s_x5, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of x5 reads what other threads wrote to x5 in ttmul311
    d_ttmul311_2_save_bx3_by32_bz1_s(s_x5, x5, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *in_m, const float *in_s, const float *in_v, const float *in_3, float *x0,
    float *x5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 32, 1);
    case_1<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, const_cast<float *>(in_m), const_cast<float *>(in_s), const_cast<float *>(in_v), const_cast<float *>(in_3), x0, x5);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, const float *in_s, const float *in_3, float *x5,
    float *x0, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_s, in_v, in_3, x0, x5, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_v, const float *in_s, const float *in_3, float *x5,
    float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 35) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_in_3 = nullptr;
    float *device_x5 = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_3, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_m, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_3, 0, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x5, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x0, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_3, in_3, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_in_s, device_in_3, device_x5, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_in_3);
    cudaFree(device_x5);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
