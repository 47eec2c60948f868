// case: 2 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>

#include "case.h"

/* element types of the robotics library */
#ifndef ROBO_TYPES_CUH
#define ROBO_TYPES_CUH
typedef float *real;      // warpsmith: elements 1
typedef float *vec2;      // warpsmith: elements 2
typedef float *vec3;      // warpsmith: elements 3
typedef float* vec4;      // warpsmith: elements 4
typedef float *quat;      // warpsmith: elements 4
typedef float *vec7;      // warpsmith: elements 7
typedef float *sym3;      // warpsmith: elements 6
typedef float *mat2;      // warpsmith: elements 4
typedef float *mat4;      // warpsmith: elements 16
typedef float *mat8;      // warpsmith: elements 64
typedef float *vec20;     // warpsmith: elements 20
typedef float *mat20;     // warpsmith: elements 400
#endif

#define SWAP(a, b) do { if (t[a] > t[b]) { float z = t[a]; t[a] = t[b]; t[b] = z; } } while (0)

static __device__ __forceinline__ void d_sort4_1_load_1_bx64_by1_bz1_s(vec4 m, float *s, int tx, int bx)
{
    float4 *to = (float4 *)s;
    const float4 *from = (const float4 *)m + bx * 64;
    to[tx] = from[tx];
}

static __device__ __forceinline__ void d_sort4_1_compute_bx64_by1_bz1_ss(float *v, float *r, int tx)
{
    float t[4];
    for (int i = 0; i < 4; i++) t[i] = v[4 * tx + i];
    SWAP(0, 1); SWAP(2, 3); SWAP(0, 2); SWAP(1, 3); SWAP(1, 2);
    for (int i = 0; i < 4; i++) r[4 * tx + i] = t[i];
}

static __device__ __forceinline__ void d_sort4_1_save_bx64_by1_bz1_s(float *s, vec4 m, int tx, int bx)
{
    ((float4 *)m)[bx * 64 + tx] = ((float4 *)s)[tx];
}

#undef SWAP
// sort4, sort4: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *a, float *b, float *c)
{
    __shared__ __align__(16) float shared[512];
    float *s_a = shared;
    float *s_b = shared + 256;
    float *s_c = shared;

    d_sort4_1_load_1_bx64_by1_bz1_s(a, s_a, threadIdx.x, blockIdx.x);
    d_sort4_1_compute_bx64_by1_bz1_ss(s_a, s_b, threadIdx.x);
    d_sort4_1_save_bx64_by1_bz1_s(s_b, b, threadIdx.x, blockIdx.x);
    d_sort4_1_compute_bx64_by1_bz1_ss(s_b, s_c, threadIdx.x);
    d_sort4_1_save_bx64_by1_bz1_s(s_c, c, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *a, float *b, float *c, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(a), b, c);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(int count, const float *a, float *b, float *c, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, b, c, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *a, float *b, float *c)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_c = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_c, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_a, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_b, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_c, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, device_c, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(b, device_b, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(c, device_c, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_c);
    cudaFree(workspace);
    return error;
}
