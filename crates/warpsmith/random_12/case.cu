// case: 1 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_venorm3_1_load_1_bx256_by1_bz1_s(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 256;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * 256 + tx] = block_v[i * 256 + tx];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_venorm3_1_save_bx256_by1_bz1_r(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 256;
    block_s[tx] = s_s[0];
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, float *in_v, float *x0)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x0[1];

    d_venorm3_1_load_1_bx256_by1_bz1_s(in_v, s_in_v, threadIdx.x, blockIdx.x);
    __syncthreads();  // venorm3 reads what other threads wrote to in_v in the load of in_v
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_in_v, r_x0, threadIdx.x);
    d_venorm3_1_save_bx256_by1_bz1_r(r_x0, x0, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *in_v, float *x0, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, const_cast<float *>(in_v), x0);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(int count, const float *in_v, float *x0, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_v, x0, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *in_v, float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 259) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_v = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x0, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_v, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_v);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
