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

static __device__ __forceinline__ void d_mmul44_z_load_1_bx4_by4_bz16_s(matrix4x4 g, float *s, int tx, int ty, int tz, int by) {
    s[tz * 16 + ty * 4 + tx] = g[by * 16 * 16 + tz * 16 + ty * 4 + tx];
}

static __device__ __forceinline__ void d_mmul44_z_load_2_bx4_by4_bz16_s(matrix4x4 g, float *s, int tx, int ty, int tz, int by) {
    s[tz * 16 + ty * 4 + tx] = g[by * 16 * 16 + tz * 16 + ty * 4 + tx];
}

static __device__ __forceinline__ void d_mmul44_z_compute_bx4_by4_bz16_sss(float *a, float *b, float *c, int tx, int ty, int tz) {
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) sum += a[tz * 16 + ty * 4 + k] * b[tz * 16 + k * 4 + tx];
    c[tz * 16 + ty * 4 + tx] = sum;
}

static __device__ __forceinline__ void d_mmul44_z_save_bx4_by4_bz16_s(float *s, matrix4x4 g, int tx, int ty, int tz, int by) {
    g[by * 16 * 16 + tz * 16 + ty * 4 + tx] = s[tz * 16 + ty * 4 + tx];
}

static __device__ __forceinline__ void d_mtrace44_1_compute_bx16_by1_bz1_sr(float *a, float *t, int tx) {
    t[0] = a[tx * 16] + a[tx * 16 + 5] + a[tx * 16 + 10] + a[tx * 16 + 15];
}

static __device__ __forceinline__ void d_mtrace44_1_save_bx16_by1_bz1_r(float *s, scalar g, int tx, int bx) { g[bx * 16 + tx] = s[0]; }

// mmul44, mmul44, mtrace44: 16 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, float *A, float *B, float *C, float *t)
{
    __shared__ __align__(16) float shared[768];
    float *s_A = shared;
    float *s_B = shared + 256;
    float *s_C_2 = shared + 512;
    float *s_C = shared + 256;
    float r_t[1];
    const int thread = threadIdx.x + 4 * (threadIdx.y + 4 * threadIdx.z);

    d_mmul44_z_load_1_bx4_by4_bz16_s(A, s_A, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    d_mmul44_z_load_2_bx4_by4_bz16_s(B, s_B, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    __syncthreads();  // mmul44 reads what other threads wrote to A in the load of A
    d_mmul44_z_compute_bx4_by4_bz16_sss(s_A, s_B, s_C_2, threadIdx.x, threadIdx.y, threadIdx.z);
    __syncthreads();  // mmul44 writes C#2 where other threads touched B in mmul44
    d_mmul44_z_compute_bx4_by4_bz16_sss(s_C_2, s_A, s_C, threadIdx.x, threadIdx.y, threadIdx.z);
    d_mmul44_z_save_bx4_by4_bz16_s(s_C, C, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    __syncthreads();  // mtrace44 reads what other threads wrote to C#2 in mmul44
    if (thread < 16) d_mtrace44_1_compute_bx16_by1_bz1_sr(s_C, r_t, thread);
    if (thread < 16) d_mtrace44_1_save_bx16_by1_bz1_r(r_t, t, thread, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *C, float *t, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(4, 4, 16);
    case_1<<<(count - 1) / 16 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(B), C, t);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *t, float *C, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, C, t, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *t, float *C)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 19) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_t = nullptr;
    float *device_C = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_t, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_t, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_C, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_t, device_C, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(t, device_t, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_t);
    cudaFree(device_C);
    cudaFree(workspace);
    return error;
}
