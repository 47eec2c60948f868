// case: 3 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_axpy3_1_load_1_bx64_by1_bz1_r(scalar g, float *s, int tx, int bx) { s[0] = g[bx * 64 + tx]; }

static __device__ __forceinline__ void d_axpy3_1_load_2_bx64_by1_bz1_s(vector3 g, float *s, int tx, int bx) {
    for (int k = 0; k < 3; ++k) s[tx * 3 + k] = g[(bx * 64 + tx) * 3 + k];
}

static __device__ __forceinline__ void d_axpy3_1_compute_bx64_by1_bz1_rssr(float *a, float *x, float *y, float *out, int tx) {
    out[0] = a[0] * x[tx * 3] + y[tx * 3];
    out[1] = a[0] * x[tx * 3 + 1] + y[tx * 3 + 1];
    out[2] = a[0] * x[tx * 3 + 2] + y[tx * 3 + 2];
}

static __device__ __forceinline__ void d_axpy3_1_compute_bx64_by1_bz1_rrss(float *a, float *x, float *y, float *out, int tx) {
    out[tx * 3] = a[0] * x[0] + y[tx * 3];
    out[tx * 3 + 1] = a[0] * x[1] + y[tx * 3 + 1];
    out[tx * 3 + 2] = a[0] * x[2] + y[tx * 3 + 2];
}

static __device__ __forceinline__ void d_axpy3_1_save_bx64_by1_bz1_r(float *s, vector3 g, int tx, int bx) {
    #pragma unroll
    for (int k = 0; k < 3; ++k) g[(bx * 64 + tx) * 3 + k] = s[k];
}

// axpy3, axpy3, axpy3: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *a, float *x, float *y, float *z)
{
    __shared__ __align__(16) float shared[384];
    float r_a[1];
    float *s_x = shared;
    float *s_y = shared + 192;
    float r_z_2[3];
    float *s_z_3 = shared + 192;
    float r_z[3];
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 64 >= count) break;

        d_axpy3_1_load_1_bx64_by1_bz1_r(a, r_a, threadIdx.x, block);
        d_axpy3_1_load_2_bx64_by1_bz1_s(x, s_x, threadIdx.x, block);
        d_axpy3_1_load_2_bx64_by1_bz1_s(y, s_y, threadIdx.x, block);
        d_axpy3_1_compute_bx64_by1_bz1_rssr(r_a, s_x, s_y, r_z_2, threadIdx.x);
        d_axpy3_1_compute_bx64_by1_bz1_rrss(r_a, r_z_2, s_x, s_z_3, threadIdx.x);
        d_axpy3_1_compute_bx64_by1_bz1_rssr(r_a, s_z_3, s_z_3, r_z, threadIdx.x);
        d_axpy3_1_save_bx64_by1_bz1_r(r_z, z, threadIdx.x, block);
    }
}

cudaError_t case_1_launch(
    int count, const float *a, const float *x, const float *y, float *z, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 128 + 1, block, 0, stream>>>(count, const_cast<float *>(a), const_cast<float *>(x), const_cast<float *>(y), z);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *a, const float *x, const float *y, float *z, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, x, y, z, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *a, const float *x, const float *y, float *z)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_x = nullptr;
    float *device_y = nullptr;
    float *device_z = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_y, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_z, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_a, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_y, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_z, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_x, x, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_y, y, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_x, device_y, device_z, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(z, device_z, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(device_z);
    cudaFree(workspace);
    return error;
}
