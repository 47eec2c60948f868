// case: 2 calls of elementary functions in 1 kernel.
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

// svmul3, svmul3: 64 elements a block.
static __global__ void __launch_bounds__(192) case_1(
    int count, float *in_v, float *in_s, float *x0, float *x1)
{
    __shared__ __align__(16) float shared[448];
    float *s_in_v = shared;
    float *s_in_s = shared + 384;
    float *s_x0 = shared + 192;
    float *s_x1 = shared + 192;

    d_svmul3_2_load_1_bx3_by64_bz1_s(in_v, s_in_v, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_svmul3_2_load_2_bx3_by64_bz1_s(in_s, s_in_s, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_svmul3_2_compute_bx3_by64_bz1_sss(s_in_v, s_in_s, s_x0, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    d_svmul3_2_save_bx3_by64_bz1_s(s_x0, x0, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // the baseline has one after every routine
    d_svmul3_2_compute_bx3_by64_bz1_sss(s_in_v, s_in_s, s_x1, threadIdx.x, threadIdx.y);
    __syncthreads();  // the baseline has one after every routine
    d_svmul3_2_save_bx3_by64_bz1_s(s_x1, x1, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *in_v, const float *in_s, float *x0, float *x1, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 64, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(in_v), const_cast<float *>(in_s), x0, x1);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_v, const float *in_s, float *x0, float *x1, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_v, in_s, x0, x1, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *in_v, const float *in_s, float *x0, float *x1)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_x0 = nullptr;
    float *device_x1 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x1, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x0, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x1, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_v, device_in_s, device_x0, device_x1, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x1, device_x1, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x0);
    cudaFree(device_x1);
    cudaFree(workspace);
    return error;
}
