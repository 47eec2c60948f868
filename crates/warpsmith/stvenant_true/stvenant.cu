// stvenant: 4 calls of elementary functions in 2 kernels.
// Made for sm_90.

#include <cuda_runtime.h>

#include "stvenant.h"

// The element types: each a pointer to float, and the number of floats that one element has. Element e of an array of
// 3x3 matrices begins at offset 9 * e; rows follow one another.

typedef float *scalar;         // warpsmith: elements 1
typedef float *vector3;        // warpsmith: elements 3
typedef float *matrix3x3;      // warpsmith: elements 9
typedef float *matrix5x5;      // warpsmith: elements 25
typedef float *tensor3x3x3;    // warpsmith: elements 27
typedef float *tensor3x3x3x3;  // warpsmith: elements 81

static __device__ __forceinline__ void d_mvmul33_2_load_1_bx3_by64_bz1_s(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * 64 + ty * 3 + tx] = block_A[i * 3 * 64 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_load_2_bx3_by64_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 64;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by64_bz1_ssr(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[0] = sum;
}

static __device__ __forceinline__ void d_svmul3_2_load_2_bx3_by64_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by64_bz1_rsr(float *v, float *s, float *w, int tx, int ty)
{
    w[0] = s[ty] * v[0];
}

static __device__ __forceinline__ void d_svmul3_2_save_bx3_by64_bz1_r(float *s_w, vector3 w, int tx, int ty, int bx)
{
    vector3 block_w = w + (size_t)bx * 3 * 64;
    block_w[ty * 3 + tx] = s_w[0];
}

static __device__ __forceinline__ void d_ttmul3212_2_load_2_bx9_by16_bz1_s(matrix3x3 M, float *s_M, int tx, int ty, int bx)
{
    matrix3x3 block_M = M + (size_t)bx * 9 * 16;
    s_M[ty * 9 + tx] = block_M[ty * 9 + tx];
}

static __device__ __forceinline__ void d_ttmul3212_2_compute_bx9_by16_bz1_rss(float *T, float *M, float *R, int tx, int ty)
{
    #pragma unroll
    for (int k = 0; k < 3; k++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[l] * M[ty * 9 + k * 3 + l];
        R[ty * 27 + tx * 3 + k] = sum;
    }
}

static __device__ __forceinline__ void d_ttmul3212_2_save_bx9_by16_bz1_s(float *s_R, tensor3x3x3 R, int tx, int ty, int bx)
{
    tensor3x3x3 block_R = R + (size_t)bx * 27 * 16;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_R[i * 9 * 16 + ty * 9 + tx] = s_R[i * 9 * 16 + ty * 9 + tx];
}

static __device__ __forceinline__ void d_ttmul411_2_load_1_bx9_by16_bz1_s(tensor3x3x3x3 T, float *s_T, int tx, int ty, int bx)
{
    tensor3x3x3x3 block_T = T + (size_t)bx * 81 * 16;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_T[i * 9 * 16 + ty * 9 + tx] = block_T[i * 9 * 16 + ty * 9 + tx];
}

static __device__ __forceinline__ void d_ttmul411_2_load_2_bx9_by16_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 16;
    if (tx < 3) s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_ttmul411_2_compute_bx9_by16_bz1_ssr(float *T, float *v, float *R, int tx, int ty)
{
    #pragma unroll
    for (int k = 0; k < 3; k++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[ty * 81 + tx * 9 + k * 3 + l] * v[ty * 3 + l];
        R[k] = sum;
    }
}

// mvmul33, svmul3: 64 elements a block.
static __global__ void __launch_bounds__(192) stvenant_1(int count, float *H, float *dPhi, float *w, float *v)
{
    __shared__ __align__(16) float shared[768];
    float *s_H = shared;
    float *s_dPhi = shared + 576;
    float r_Hd[1];
    float *s_w = shared;
    float r_v[1];

    d_mvmul33_2_load_1_bx3_by64_bz1_s(H, s_H, threadIdx.x, threadIdx.y, blockIdx.x);
    d_mvmul33_2_load_2_bx3_by64_bz1_s(dPhi, s_dPhi, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to H in the load of H
    d_mvmul33_2_compute_bx3_by64_bz1_ssr(s_H, s_dPhi, r_Hd, threadIdx.x, threadIdx.y);
    __syncthreads();  // the load of w writes w where other threads touched H in mvmul33
    d_svmul3_2_load_2_bx3_by64_bz1_s(w, s_w, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // svmul3 reads what other threads wrote to w in the load of w
    d_svmul3_2_compute_bx3_by64_bz1_rsr(r_Hd, s_w, r_v, threadIdx.x, threadIdx.y);
    d_svmul3_2_save_bx3_by64_bz1_r(r_v, v, threadIdx.x, threadIdx.y, blockIdx.x);
}

// ttmul411, ttmul3212: 16 elements a block.
static __global__ void __launch_bounds__(144) stvenant_2(int count, float *T4, float *v, float *F, float *R)
{
    __shared__ __align__(16) float shared[1344];
    float *s_T4 = shared;
    float *s_v = shared + 1296;
    float r_R3[3];
    float *s_F = shared + 432;
    float *s_R = shared;

    d_ttmul411_2_load_1_bx9_by16_bz1_s(T4, s_T4, threadIdx.x, threadIdx.y, blockIdx.x);
    d_ttmul411_2_load_2_bx9_by16_bz1_s(v, s_v, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // ttmul411 reads what other threads wrote to T4 in the load of T4
    d_ttmul411_2_compute_bx9_by16_bz1_ssr(s_T4, s_v, r_R3, threadIdx.x, threadIdx.y);
    __syncthreads();  // the load of F writes F where other threads touched T4 in ttmul411
    d_ttmul3212_2_load_2_bx9_by16_bz1_s(F, s_F, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // ttmul3212 reads what other threads wrote to F in the load of F
    d_ttmul3212_2_compute_bx9_by16_bz1_rss(r_R3, s_F, s_R, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of R reads what other threads wrote to R in ttmul3212
    d_ttmul3212_2_save_bx9_by16_bz1_s(s_R, R, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t stvenant_1_launch(
    int count, const float *H, const float *dPhi, const float *w, float *v, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 64, 1);
    stvenant_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(H), const_cast<float *>(dPhi), const_cast<float *>(w), v);
    return cudaGetLastError();
}

cudaError_t stvenant_2_launch(
    int count, const float *T4, const float *v, const float *F, float *R, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(9, 16, 1);
    stvenant_2<<<(count - 1) / 16 + 1, block, 0, stream>>>(count, const_cast<float *>(T4), const_cast<float *>(v), const_cast<float *>(F), R);
    return cudaGetLastError();
}

size_t stvenant_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t stvenant_launch(
    int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R,
    float *v, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = stvenant_1_launch(count, H, dPhi, w, v, stream);
    if (error != cudaSuccess) return error;
    error = stvenant_2_launch(count, T4, v, F, R, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t stvenant_host(
    int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R,
    float *v)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = stvenant_workspace(count);
    float *device_T4 = nullptr;
    float *device_F = nullptr;
    float *device_dPhi = nullptr;
    float *device_H = nullptr;
    float *device_w = nullptr;
    float *device_R = nullptr;
    float *device_v = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_T4, room * 81 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_F, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_dPhi, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_H, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_R, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_T4, 0, room * 81 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_F, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_dPhi, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_H, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_w, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_R, 0, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_T4, T4, (size_t)count * 81 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_F, F, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_dPhi, dPhi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_H, H, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = stvenant_launch(count, device_T4, device_F, device_dPhi, device_H, device_w, device_R, device_v, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(R, device_R, (size_t)count * 27 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(v, device_v, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_T4);
    cudaFree(device_F);
    cudaFree(device_dPhi);
    cudaFree(device_H);
    cudaFree(device_w);
    cudaFree(device_R);
    cudaFree(device_v);
    cudaFree(workspace);
    return error;
}
