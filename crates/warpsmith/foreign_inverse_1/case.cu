// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <math.h>

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

namespace minv33 {

#define AT(i, j) a[(i) * 3 + (j)]
static __device__ __forceinline__ float cofactor(const float *a, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return AT(i1, j1) * AT(i2, j2) - AT(i1, j2) * AT(i2, j1);
}

static __device__ __forceinline__ void d_minv33_1_load_1_bx64_by1_bz1_s(matrix3x3 g, float *s, int tx, int bx) {
    const float *from = g + bx * 64 * 9;
    for (int i = tx; i < 9 * 64; i += 64) s[i] = from[i];
}

static __device__ __forceinline__ void d_minv33_1_compute_bx64_by1_bz1_ss(float *m, float *out, int tx) {
    float a[9];
    for (int i = 0; i < 9; i++) a[i] = m[tx * 9 + i];
    float det = 0.0f;
    for (int j = 0; j < 3; j++) det += AT(0, j) * cofactor(a, 0, j);
    const float r = fabsf(det) > 1e-30f ? 1.0f / det : 0.0f;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[tx * 9 + j * 3 + i] = cofactor(a, i, j) * r;
}

static __device__ __forceinline__ void d_minv33_1_save_bx64_by1_bz1_s(float *s, matrix3x3 g, int tx, int bx) {
    float *to = g + bx * 64 * 9;
    for (int i = tx; i < 9 * 64; i += 64) to[i] = s[i];
}

}

#undef AT
static __device__ __forceinline__ void d_mmul33_1_compute_bx64_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mvmul33_1_load_2_bx64_by1_bz1_s(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * 64 + tx] = block_v[i * 64 + tx];
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx64_by1_bz1_rss(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[tx * 3 + k];
        w[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_1_save_bx64_by1_bz1_s(float *s_w, vector3 w, int tx, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_w[i * 64 + tx] = s_w[i * 64 + tx];
}

// minv33, mmul33, mvmul33: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *A, float *v, float *I, float *w)
{
    __shared__ __align__(16) float shared[1152];
    float *s_A = shared;
    float *s_I = shared + 576;
    float r_P[9];
    float *s_v = shared;
    float *s_w = shared + 192;

    minv33::d_minv33_1_load_1_bx64_by1_bz1_s(A, s_A, threadIdx.x, blockIdx.x);
    __syncthreads();  // minv33 reads what other threads wrote to A in the load of A
    minv33::d_minv33_1_compute_bx64_by1_bz1_ss(s_A, s_I, threadIdx.x);
    __syncthreads();  // the save of I reads what other threads wrote to I in minv33
    minv33::d_minv33_1_save_bx64_by1_bz1_s(s_I, I, threadIdx.x, blockIdx.x);
    d_mmul33_1_compute_bx64_by1_bz1_ssr(s_I, s_A, r_P, threadIdx.x);
    __syncthreads();  // the load of v writes v where other threads touched A in mmul33
    d_mvmul33_1_load_2_bx64_by1_bz1_s(v, s_v, threadIdx.x, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to v in the load of v
    d_mvmul33_1_compute_bx64_by1_bz1_rss(r_P, s_v, s_w, threadIdx.x);
    __syncthreads();  // the save of w reads what other threads wrote to w in mvmul33
    d_mvmul33_1_save_bx64_by1_bz1_s(s_w, w, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *A, const float *v, float *I, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(v), I, w);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *v, float *w, float *I, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, v, I, w, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *v, float *w, float *I)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_v = nullptr;
    float *device_w = nullptr;
    float *device_I = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_I, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_w, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_I, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_v, device_w, device_I, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(I, device_I, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_v);
    cudaFree(device_w);
    cudaFree(device_I);
    cudaFree(workspace);
    return error;
}
