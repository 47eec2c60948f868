// stvenantinner: 7 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>

#include "stvenantinner.h"

// The element types: each a pointer to float, and the number of floats that one element has. Element e of an array of
// 3x3 matrices begins at offset 9 * e; rows follow one another.

typedef float *scalar;         // warpsmith: elements 1
typedef float *vector3;        // warpsmith: elements 3
typedef float *matrix3x3;      // warpsmith: elements 9
typedef float *matrix5x5;      // warpsmith: elements 25
typedef float *tensor3x3x3;    // warpsmith: elements 27
typedef float *tensor3x3x3x3;  // warpsmith: elements 81

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by32_bz1_rrs(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[j] + B[j];
}

static __device__ __forceinline__ void d_madd33_2_save_bx3_by32_bz1_s(float *s_C, matrix3x3 C, int tx, int ty, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) block_C[i * 3 * 32 + ty * 3 + tx] = s_C[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_load_1_bx3_by32_bz1_s(matrix3x3 A, float *s_A, int tx, int ty, int bx)
{
    matrix3x3 block_A = A + (size_t)bx * 9 * 32;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_A[i * 3 * 32 + ty * 3 + tx] = block_A[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_load_2_bx3_by32_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 32;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by32_bz1_sss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smimul33_2_load_1_bx3_by32_bz1_s(scalar s, float *s_s, int tx, int ty, int bx)
{
    scalar block_s = s + (size_t)bx * 32;
    if (tx == 0) s_s[ty] = block_s[ty];
}

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by32_bz1_sr(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by32_bz1_rsr(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = s[ty] * A[j];
}

static __device__ __forceinline__ void d_ttmul311_2_load_1_bx3_by32_bz1_s(tensor3x3x3 T, float *s_T, int tx, int ty, int bx)
{
    tensor3x3x3 block_T = T + (size_t)bx * 27 * 32;
    #pragma unroll
    for (int i = 0; i < 9; i++) s_T[i * 3 * 32 + ty * 3 + tx] = block_T[i * 3 * 32 + ty * 3 + tx];
}

static __device__ __forceinline__ void d_ttmul311_2_load_2_bx3_by32_bz1_s(vector3 v, float *s_v, int tx, int ty, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 32;
    s_v[ty * 3 + tx] = block_v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_ttmul311_2_compute_bx3_by32_bz1_ssr(float *T, float *v, float *R, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += T[ty * 27 + tx * 9 + j * 3 + k] * v[ty * 3 + k];
        R[j] = sum;
    }
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx32_by1_bz1_sss(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[tx] = fabsf(sum);
}

// ttmul311, mvmul33, vvmulabs3, smimul33, smmul33, smmul33, madd33: 32 elements a block.
static __global__ void __launch_bounds__(96) stvenantinner_1(
    int count, float *R, float *dPsi, float *S, float *dPhi, float *w, float *result)
{
    __shared__ __align__(16) float shared[960];
    float *s_R = shared;
    float *s_dPsi = shared + 864;
    float r_a[3];
    float *s_S = shared;
    float *s_dPhi = shared + 288;
    float *s_h = shared + 384;
    float *s_s = shared;
    float *s_w = shared + 32;
    float r_wI[3];
    float r_swI[3];
    float r_wa[3];
    float *s_result = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;

    d_ttmul311_2_load_1_bx3_by32_bz1_s(R, s_R, threadIdx.x, threadIdx.y, blockIdx.x);
    d_ttmul311_2_load_2_bx3_by32_bz1_s(dPsi, s_dPsi, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // ttmul311 reads what other threads wrote to R in the load of R
    d_ttmul311_2_compute_bx3_by32_bz1_ssr(s_R, s_dPsi, r_a, threadIdx.x, threadIdx.y);
    __syncthreads();  // the load of S writes S where other threads touched R in ttmul311
    d_mvmul33_2_load_1_bx3_by32_bz1_s(S, s_S, threadIdx.x, threadIdx.y, blockIdx.x);
    d_mvmul33_2_load_2_bx3_by32_bz1_s(dPhi, s_dPhi, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to S in the load of S
    d_mvmul33_2_compute_bx3_by32_bz1_sss(s_S, s_dPhi, s_h, threadIdx.x, threadIdx.y);
    __syncthreads();  // vvmulabs3 writes s where other threads touched S in mvmul33
    if (thread < 32) d_vvmulabs3_1_compute_bx32_by1_bz1_sss(s_h, s_dPsi, s_s, thread);
    d_smimul33_2_load_1_bx3_by32_bz1_s(w, s_w, threadIdx.x, threadIdx.y, blockIdx.x);
    __syncthreads();  // smimul33 reads what other threads wrote to w in the load of w
    d_smimul33_2_compute_bx3_by32_bz1_sr(s_w, r_wI, threadIdx.x, threadIdx.y);
    d_smmul33_2_compute_bx3_by32_bz1_rsr(r_wI, s_s, r_swI, threadIdx.x, threadIdx.y);
    d_smmul33_2_compute_bx3_by32_bz1_rsr(r_a, s_w, r_wa, threadIdx.x, threadIdx.y);
    __syncthreads();  // madd33 writes result where other threads touched w in smimul33
    d_madd33_2_compute_bx3_by32_bz1_rrs(r_swI, r_wa, s_result, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of result reads what other threads wrote to result in madd33
    d_madd33_2_save_bx3_by32_bz1_s(s_result, result, threadIdx.x, threadIdx.y, blockIdx.x);
}

cudaError_t stvenantinner_1_launch(
    int count, const float *R, const float *dPsi, const float *S, const float *dPhi, const float *w,
    float *result, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 32, 1);
    stvenantinner_1<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, const_cast<float *>(R), const_cast<float *>(dPsi), const_cast<float *>(S), const_cast<float *>(dPhi), const_cast<float *>(w), result);
    return cudaGetLastError();
}

size_t stvenantinner_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t stvenantinner_launch(
    int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w,
    float *result, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = stvenantinner_1_launch(count, R, dPsi, S, dPhi, w, result, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t stvenantinner_host(
    int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w,
    float *result)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 35) / 4 * 4;
    const size_t bytes = stvenantinner_workspace(count);
    float *device_R = nullptr;
    float *device_dPsi = nullptr;
    float *device_dPhi = nullptr;
    float *device_S = nullptr;
    float *device_w = nullptr;
    float *device_result = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_R, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_dPsi, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_dPhi, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_S, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_result, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_R, 0, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_dPsi, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_dPhi, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_S, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_w, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_result, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_R, R, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_dPsi, dPsi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_dPhi, dPhi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_S, S, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = stvenantinner_launch(count, device_R, device_dPsi, device_dPhi, device_S, device_w, device_result, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(result, device_result, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_R);
    cudaFree(device_dPsi);
    cudaFree(device_dPhi);
    cudaFree(device_S);
    cudaFree(device_w);
    cudaFree(device_result);
    cudaFree(workspace);
    return error;
}
