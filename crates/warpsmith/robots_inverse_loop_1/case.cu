// case: 15 calls of elementary functions in 3 kernels.
// Made for sm_90.

#include <cuda_runtime.h>
#include <math.h>

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

#ifndef MATHX_CUH
#define MATHX_CUH
#define SQ(x) ((x) * (x))
struct two { float a, b; };
template <int N>
__device__ __host__ inline float dotn(const float *a, const float *b)
{
    float s = 0.0f;
    for (int k = 0; k < N; k++) s += a[k] * b[k];
    return s;
}
#endif

namespace inv2 {

__device__ inline two halves(const float *m) { two t; t.a = m[0] * m[3]; t.b = m[1] * m[2]; return t; }

static __device__ __forceinline__ void d_inv2_a_load_1_bx64_by1_bz1_r(mat2 m, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; i++) s[i] = m[(bx * 64 + tx) * 4 + i];
}

static __device__ __forceinline__ void d_inv2_a_compute_bx64_by1_bz1_rr(float *m, float *r, int tx)
{
    two t = halves(m + 0);
    float d = 1.0f / (t.a - t.b + 2.0f);
    r[0] = m[3] * d;
    r[1] = -m[1] * d;
    r[2] = -m[2] * d;
    r[3] = m[0] * d;
}

static __device__ __forceinline__ void d_inv2_a_save_bx64_by1_bz1_r(float *s, mat2 m, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; i++) m[(bx * 64 + tx) * 4 + i] = s[i];
}

}

static __device__ __forceinline__ void d_mv2_b_load_2_bx64_by1_bz1_r(vec2 m, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 2; i++) s[i] = m[(bx * 64 + tx) * 2 + i];
}

static __device__ __forceinline__ void d_mv2_b_compute_bx64_by1_bz1_rrr(float *m, float *v, float *r, int tx)
{
    float x = v[0], y = v[1];
    int k = 0;
    while (k < 2) {
        r[k] = m[k * 2] * x + m[k * 2 + 1] * y;
        k++;
    }
}

static __device__ __forceinline__ void d_mv2_b_save_bx64_by1_bz1_r(float *s, vec2 m, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 2; i++) m[(bx * 64 + tx) * 2 + i] = s[i];
}

static __device__ __forceinline__ void d_mv2_b_load_1_bx96_by1_bz1_r(mat2 m, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; i++) s[i] = m[(bx * 96 + tx) * 4 + i];
}

static __device__ __forceinline__ void d_mv2_b_load_2_bx96_by1_bz1_r(vec2 m, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 2; i++) s[i] = m[(bx * 96 + tx) * 2 + i];
}

static __device__ __forceinline__ void d_mv2_b_compute_bx96_by1_bz1_rrr(float *m, float *v, float *r, int tx)
{
    float x = v[0], y = v[1];
    int k = 0;
    while (k < 2) {
        r[k] = m[k * 2] * x + m[k * 2 + 1] * y;
        k++;
    }
}

static __device__ __forceinline__ void d_mv2_b_save_bx96_by1_bz1_r(float *s, vec2 m, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 2; i++) m[(bx * 96 + tx) * 2 + i] = s[i];
}

static __device__ __forceinline__ void d_mv2_b_load_1_bx64_by1_bz1_r(mat2 m, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; i++) s[i] = m[(bx * 64 + tx) * 4 + i];
}

// inv2, mv2, mv2: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *M, float *v, float *N, float *u_3)
{
    float r_M[4];
    float r_N[4];
    float r_v[2];
    float r_u_2[2];
    float r_u_3[2];
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 64 >= count) break;

        inv2::d_inv2_a_load_1_bx64_by1_bz1_r(M, r_M, threadIdx.x, block);
        inv2::d_inv2_a_compute_bx64_by1_bz1_rr(r_M, r_N, threadIdx.x);
        inv2::d_inv2_a_save_bx64_by1_bz1_r(r_N, N, threadIdx.x, block);
        d_mv2_b_load_2_bx64_by1_bz1_r(v, r_v, threadIdx.x, block);
        d_mv2_b_compute_bx64_by1_bz1_rrr(r_N, r_v, r_u_2, threadIdx.x);
        d_mv2_b_compute_bx64_by1_bz1_rrr(r_M, r_u_2, r_u_3, threadIdx.x);
        d_mv2_b_save_bx64_by1_bz1_r(r_u_3, u_3, threadIdx.x, block);
    }
}

// mv2, mv2, mv2, mv2, mv2, mv2, mv2, mv2: 96 elements a block.
static __global__ void __launch_bounds__(96) case_2(int count, float *N, float *u_4, float *u_12)
{
    float r_N[4];
    float r_u_4[2];
    float r_u_5[2];
    float r_u_6[2];
    float r_u_7[2];
    float r_u_8[2];
    float r_u_9[2];
    float r_u_10[2];
    float r_u_11[2];
    float r_u_12[2];

    d_mv2_b_load_1_bx96_by1_bz1_r(N, r_N, threadIdx.x, blockIdx.x);
    d_mv2_b_load_2_bx96_by1_bz1_r(u_4, r_u_4, threadIdx.x, blockIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_4, r_u_5, threadIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_5, r_u_6, threadIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_6, r_u_7, threadIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_7, r_u_8, threadIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_8, r_u_9, threadIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_9, r_u_10, threadIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_10, r_u_11, threadIdx.x);
    d_mv2_b_compute_bx96_by1_bz1_rrr(r_N, r_u_11, r_u_12, threadIdx.x);
    d_mv2_b_save_bx96_by1_bz1_r(r_u_12, u_12, threadIdx.x, blockIdx.x);
}

// mv2, mv2, mv2, mv2: 64 elements a block.
static __global__ void __launch_bounds__(64) case_3(
    int count, float *N, float *u_13, float *M, float *u, float *v_out)
{
    float r_N[4];
    float r_u_13[2];
    float r_u_14[2];
    float r_u_15[2];
    float r_u[2];
    float r_M[4];
    float r_v_out[2];

    d_mv2_b_load_1_bx64_by1_bz1_r(N, r_N, threadIdx.x, blockIdx.x);
    d_mv2_b_load_2_bx64_by1_bz1_r(u_13, r_u_13, threadIdx.x, blockIdx.x);
    d_mv2_b_compute_bx64_by1_bz1_rrr(r_N, r_u_13, r_u_14, threadIdx.x);
    d_mv2_b_compute_bx64_by1_bz1_rrr(r_N, r_u_14, r_u_15, threadIdx.x);
    d_mv2_b_compute_bx64_by1_bz1_rrr(r_N, r_u_15, r_u, threadIdx.x);
    d_mv2_b_save_bx64_by1_bz1_r(r_u, u, threadIdx.x, blockIdx.x);
    d_mv2_b_load_1_bx64_by1_bz1_r(M, r_M, threadIdx.x, blockIdx.x);
    d_mv2_b_compute_bx64_by1_bz1_rrr(r_M, r_u, r_v_out, threadIdx.x);
    d_mv2_b_save_bx64_by1_bz1_r(r_v_out, v_out, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *M, const float *v, float *N, float *u_3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 128 + 1, block, 0, stream>>>(count, const_cast<float *>(M), const_cast<float *>(v), N, u_3);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *N, const float *u_4, float *u_12, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(96, 1, 1);
    case_2<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, const_cast<float *>(N), const_cast<float *>(u_4), u_12);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *N, const float *u_13, const float *M, float *u, float *v_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_3<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(N), const_cast<float *>(u_13), const_cast<float *>(M), u, v_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 99) / 4 * 4 * 10 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *M, const float *v, float *u, float *v_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 99) / 4 * 4;
    float *d_N = workspace;
    float *d_u_3 = workspace + room * 4;
    float *d_u_4_even = workspace + room * 6;
    float *d_u_4_odd = workspace + room * 8;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, M, v, d_N, d_u_3, stream);
    if (error != cudaSuccess) return error;
    const float *p_u_4 = d_u_3;
    for (int i1 = 0; i1 < 1; i1++) {
        float *n_u_4 = i1 % 2 == 0 ? d_u_4_even : d_u_4_odd;
        error = case_2_launch(count, d_N, p_u_4, n_u_4, stream);
        if (error != cudaSuccess) return error;
        p_u_4 = n_u_4;
    }
    error = case_3_launch(count, d_N, p_u_4, M, u, v_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *M, const float *v, float *u, float *v_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 99) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_M = nullptr;
    float *device_v = nullptr;
    float *device_u = nullptr;
    float *device_v_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_M, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_M, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v, 0, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_u, 0, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v_out, 0, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_M, M, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 2 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_M, device_v, device_u, device_v_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(u, device_u, (size_t)count * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_M);
    cudaFree(device_v);
    cudaFree(device_u);
    cudaFree(device_v_out);
    cudaFree(workspace);
    return error;
}
