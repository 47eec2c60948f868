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
typedef float *matrix4x4; // warpsmith: elements 16
typedef float *quaternion; // warpsmith: elements 4
typedef float *vector7; // warpsmith: elements 7

static __device__ __forceinline__ void d_mvmul33_1_load_1_bx64_by1_bz1_s(matrix3x3 A, float *s_A, int tx, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * 64 + tx] = block_A[i * 64 + tx];
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

static __device__ __forceinline__ void d_svmul3_1_compute_bx64_by1_bz1_rrs(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[0] * v[i];
}

static __device__ __forceinline__ void d_svmul3_1_save_bx64_by1_bz1_s(float *s_w, vector3 w, int tx, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_w[i * 64 + tx] = s_w[i * 64 + tx];
}

namespace vcross3 {

static __device__ void cross3(const float *u, const float *v, float *w)
{
    w[0] = u[1] * v[2] - u[2] * v[1];
    w[1] = u[2] * v[0] - u[0] * v[2];
    w[2] = u[0] * v[1] - u[1] * v[0];
}

static __device__ __forceinline__ void d_vcross3_1_load_1_bx64_by1_bz1_s(vector3 g, float *s, int tx, int bx)
{
    for (int i = 0; i < 3; i++) s[tx + i * 64] = g[bx * 3 * 64 + tx + i * 64];
}

static __device__ __forceinline__ void d_vcross3_1_compute_bx64_by1_bz1_sss(float *u, float *v, float *w, int tx)
{
    cross3(u + tx * 3, v + 3 * tx, w + 3 * tx);
}

static __device__ __forceinline__ void d_vcross3_1_save_bx64_by1_bz1_s(float *s, vector3 g, int tx, int bx)
{
    for (int i = 0; i < 3; i++) g[bx * 3 * 64 + tx + i * 64] = s[tx + i * 64];
}

static __device__ __forceinline__ void d_vcross3_1_compute_bx64_by1_bz1_ssr(float *u, float *v, float *w, int tx)
{
    cross3(u + tx * 3, v + 3 * tx, w + 0);
}

}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx64_by1_bz1_rrr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

// vcross3, vcross3, mvmul33, vvmulabs3, svmul3, vcross3: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(
    int count, float *a, float *b, float *M, float *c, float *d, float *a_out)
{
    __shared__ __align__(16) float shared[768];
    float *s_a = shared;
    float *s_b = shared + 192;
    float *s_c = shared + 576;
    float r_d_2[3];
    float *s_M = shared;
    float r_b_2[3];
    float r_s[1];
    float *s_d = shared;
    float *s_a_out = shared + 192;

    vcross3::d_vcross3_1_load_1_bx64_by1_bz1_s(a, s_a, threadIdx.x, blockIdx.x);
    vcross3::d_vcross3_1_load_1_bx64_by1_bz1_s(b, s_b, threadIdx.x, blockIdx.x);
    __syncthreads();  // vcross3 reads what other threads wrote to a in the load of a
    vcross3::d_vcross3_1_compute_bx64_by1_bz1_sss(s_a, s_b, s_c, threadIdx.x);
    __syncthreads();  // the save of c reads what other threads wrote to c in vcross3
    vcross3::d_vcross3_1_save_bx64_by1_bz1_s(s_c, c, threadIdx.x, blockIdx.x);
    vcross3::d_vcross3_1_compute_bx64_by1_bz1_ssr(s_c, s_a, r_d_2, threadIdx.x);
    __syncthreads();  // the load of M writes M where other threads touched a in vcross3
    d_mvmul33_1_load_1_bx64_by1_bz1_s(M, s_M, threadIdx.x, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to M in the load of M
    d_mvmul33_1_compute_bx64_by1_bz1_ssr(s_M, s_c, r_b_2, threadIdx.x);
    d_vvmulabs3_1_compute_bx64_by1_bz1_rrr(r_b_2, r_d_2, r_s, threadIdx.x);
    __syncthreads();  // svmul3 writes d#2 where other threads touched M in mvmul33
    d_svmul3_1_compute_bx64_by1_bz1_rrs(r_d_2, r_s, s_d, threadIdx.x);
    __syncthreads();  // the save of d#2 reads what other threads wrote to d#2 in svmul3
    d_svmul3_1_save_bx64_by1_bz1_s(s_d, d, threadIdx.x, blockIdx.x);
    vcross3::d_vcross3_1_compute_bx64_by1_bz1_sss(s_d, s_d, s_a_out, threadIdx.x);
    __syncthreads();  // the save of a#2 reads what other threads wrote to a#2 in vcross3
    vcross3::d_vcross3_1_save_bx64_by1_bz1_s(s_a_out, a_out, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(a), const_cast<float *>(b), const_cast<float *>(M), c, d, a_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, b, M, c, d, a_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_M = nullptr;
    float *device_c = nullptr;
    float *device_d = nullptr;
    float *device_a_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_M, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_c, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_d, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_a, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_b, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_M, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_c, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_d, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_a_out, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_b, b, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_M, M, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, device_M, device_c, device_d, device_a_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(c, device_c, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(d, device_d, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(a_out, device_a_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_M);
    cudaFree(device_c);
    cudaFree(device_d);
    cudaFree(device_a_out);
    cudaFree(workspace);
    return error;
}
