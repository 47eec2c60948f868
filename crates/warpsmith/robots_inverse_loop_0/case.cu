// case: 15 calls of elementary functions in 3 kernels.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>
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

// Copies FLOATS floats of a block's elements to shared memory, 16 bytes at a time where both sides allow. Of the last
// block only the first `there` exist: the others become zeros.
template <int FLOATS, int THREADS, bool WIDE>
static __device__ __forceinline__ void load_block(float *shared, const float *global, int there, int thread)
{
    if (WIDE && there >= FLOATS && reinterpret_cast<size_t>(global) % 16 == 0) {
        #pragma unroll 4
        for (int i = 4 * thread; i < FLOATS; i += 4 * THREADS)
            __pipeline_memcpy_async(shared + i, global + i, 16);
    } else {
        for (int i = thread; i < FLOATS; i += THREADS) {
            if (i < there)
                __pipeline_memcpy_async(shared + i, global + i, 4);
            else
                shared[i] = 0.0f;
        }
    }
}

// Copies FLOATS floats of a block's elements from shared memory, 16 bytes at a time where both sides allow. Of the last
// block only the first `there` exist.
template <int FLOATS, int THREADS, bool WIDE>
static __device__ __forceinline__ void save_block(float *global, const float *shared, int there, int thread)
{
    if (WIDE && there >= FLOATS && reinterpret_cast<size_t>(global) % 16 == 0) {
        #pragma unroll 4
        for (int i = 4 * thread; i < FLOATS; i += 4 * THREADS)
            __stcs(reinterpret_cast<float4 *>(global + i), *reinterpret_cast<const float4 *>(shared + i));
    } else {
        for (int i = thread; i < FLOATS; i += THREADS)
            if (i < there) global[i] = shared[i];
    }
}

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

static __device__ __forceinline__ void d_inv2_a_compute_bx256_by1_bz1_ss(float *m, float *r, int tx)
{
    two t = halves(m + tx * 4);
    float d = 1.0f / (t.a - t.b + 2.0f);
    r[tx * 4 + 0] = m[tx * 4 + 3] * d;
    r[tx * 4 + 1] = -m[tx * 4 + 1] * d;
    r[tx * 4 + 2] = -m[tx * 4 + 2] * d;
    r[tx * 4 + 3] = m[tx * 4 + 0] * d;
}

}

static __device__ __forceinline__ void d_mv2_b_compute_bx256_by1_bz1_ssr(float *m, float *v, float *r, int tx)
{
    float x = v[tx * 2], y = v[tx * 2 + 1];
    int k = 0;
    while (k < 2) {
        r[k] = m[tx * 4 + k * 2] * x + m[tx * 4 + k * 2 + 1] * y;
        k++;
    }
}

static __device__ __forceinline__ void d_mv2_b_compute_bx256_by1_bz1_srs(float *m, float *v, float *r, int tx)
{
    float x = v[0], y = v[1];
    int k = 0;
    while (k < 2) {
        r[tx * 2 + k] = m[tx * 4 + k * 2] * x + m[tx * 4 + k * 2 + 1] * y;
        k++;
    }
}

static __device__ __forceinline__ void d_mv2_b_compute_bx256_by1_bz1_srr(float *m, float *v, float *r, int tx)
{
    float x = v[0], y = v[1];
    int k = 0;
    while (k < 2) {
        r[k] = m[tx * 4 + k * 2] * x + m[tx * 4 + k * 2 + 1] * y;
        k++;
    }
}

static __device__ __forceinline__ void d_mv2_b_compute_bx256_by1_bz1_sss(float *m, float *v, float *r, int tx)
{
    float x = v[tx * 2], y = v[tx * 2 + 1];
    int k = 0;
    while (k < 2) {
        r[tx * 2 + k] = m[tx * 4 + k * 2] * x + m[tx * 4 + k * 2 + 1] * y;
        k++;
    }
}

// inv2, mv2, mv2: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ M, const float *__restrict__ v, float *N, float *u_3)
{
    __shared__ __align__(16) float shared[2560];
    float *s_M = shared;
    float *s_N = shared + 1024;
    float *s_v = shared + 2048;
    float r_u_2[2];
    float *s_u_3 = shared + 2048;
    const int thread = threadIdx.x;
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 256 >= count) break;
        const int first = block * 256;
        const int here = min(count - first, 256);

        load_block<1024, 256, true>(s_M, M + (size_t)first * 4, here * 4, thread);
        __syncthreads();  // the load of v writes v where other threads touched u#2 in the save of u#2
        load_block<512, 256, true>(s_v, v + (size_t)first * 2, here * 2, thread);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // inv2 reads what other threads wrote to M in the load of M
        inv2::d_inv2_a_compute_bx256_by1_bz1_ss(s_M, s_N, threadIdx.x);
        d_mv2_b_compute_bx256_by1_bz1_ssr(s_N, s_v, r_u_2, threadIdx.x);
        d_mv2_b_compute_bx256_by1_bz1_srs(s_M, r_u_2, s_u_3, threadIdx.x);
        __syncthreads();  // the save of N reads what other threads wrote to N in inv2
        save_block<1024, 256, true>(N + (size_t)first * 4, s_N, here * 4, thread);
        save_block<512, 256, true>(u_3 + (size_t)first * 2, s_u_3, here * 2, thread);
    }
}

// mv2, mv2, mv2, mv2, mv2, mv2, mv2, mv2: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ N, const float *__restrict__ u_4, float *u_12)
{
    __shared__ __align__(16) float shared[1536];
    float *s_N = shared;
    float *s_u_4 = shared + 1024;
    float r_u_5[2];
    float r_u_6[2];
    float r_u_7[2];
    float r_u_8[2];
    float r_u_9[2];
    float r_u_10[2];
    float r_u_11[2];
    float *s_u_12 = shared + 1024;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_N, N + (size_t)first * 4, here * 4, thread);
    load_block<512, 256, true>(s_u_4, u_4 + (size_t)first * 2, here * 2, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mv2 reads what other threads wrote to N in the load of N
    d_mv2_b_compute_bx256_by1_bz1_ssr(s_N, s_u_4, r_u_5, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srr(s_N, r_u_5, r_u_6, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srr(s_N, r_u_6, r_u_7, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srr(s_N, r_u_7, r_u_8, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srr(s_N, r_u_8, r_u_9, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srr(s_N, r_u_9, r_u_10, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srr(s_N, r_u_10, r_u_11, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srs(s_N, r_u_11, s_u_12, threadIdx.x);
    __syncthreads();  // the save of u#11 reads what other threads wrote to u#11 in mv2
    save_block<512, 256, true>(u_12 + (size_t)first * 2, s_u_12, here * 2, thread);
}

// mv2, mv2, mv2, mv2: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ N, const float *__restrict__ u_13, const float *__restrict__ M,
    float *u, float *v_out)
{
    __shared__ __align__(16) float shared[2560];
    float *s_N = shared;
    float *s_u_13 = shared + 2048;
    float r_u_14[2];
    float r_u_15[2];
    float *s_u = shared + 2048;
    float *s_M = shared + 1024;
    float *s_v_out = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_N, N + (size_t)first * 4, here * 4, thread);
    load_block<512, 256, true>(s_u_13, u_13 + (size_t)first * 2, here * 2, thread);
    load_block<1024, 256, true>(s_M, M + (size_t)first * 4, here * 4, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mv2 reads what other threads wrote to N in the load of N
    d_mv2_b_compute_bx256_by1_bz1_ssr(s_N, s_u_13, r_u_14, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srr(s_N, r_u_14, r_u_15, threadIdx.x);
    d_mv2_b_compute_bx256_by1_bz1_srs(s_N, r_u_15, s_u, threadIdx.x);
    __syncthreads();  // mv2 writes v#14 where other threads touched N in mv2
    d_mv2_b_compute_bx256_by1_bz1_sss(s_M, s_u, s_v_out, threadIdx.x);
    save_block<512, 256, true>(u + (size_t)first * 2, s_u, here * 2, thread);
    __syncthreads();  // the save of v#14 reads what other threads wrote to v#14 in mv2
    save_block<512, 256, true>(v_out + (size_t)first * 2, s_v_out, here * 2, thread);
}

cudaError_t case_1_launch(
    int count, const float *M, const float *v, float *N, float *u_3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 512 + 1, block, 0, stream>>>(count, M, v, N, u_3);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *N, const float *u_4, float *u_12, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, N, u_4, u_12);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *N, const float *u_13, const float *M, float *u, float *v_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, N, u_13, M, u, v_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 10 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *M, const float *v, float *u, float *v_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
