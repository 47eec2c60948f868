// case: 5 calls of elementary functions in 2 kernels.
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

// Copies a block's elements from a structure of arrays to shared memory: float k of element e stands `pitch` floats behind
// float k - 1. A thread stays with one element and goes from float to float, so that neighbours read neighbours and an address
// is one addition. Only the first `here` elements exist: the others become zeros.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void load_columns(float *shared, const float *global, size_t pitch, int here, int thread)
{
    constexpr int ROWS = THREADS / ELEMENTS;
    const int e = thread % ELEMENTS, first = thread / ELEMENTS;
    const float *from = global + first * pitch + e;
    float *to = shared + e * SIZE;
    #pragma unroll
    for (int k = first; k < SIZE; k += ROWS) {
        if (e < here)
            __pipeline_memcpy_async(to + k, from, 4);
        else
            to[k] = 0.0f;
        from += ROWS * pitch;
    }
}

// Brings the floats of an element to the registers of its thread; they stand `pitch` floats apart.
template <int SIZE>
static __device__ __forceinline__ void load_own(float *own, const float *global, size_t pitch)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) own[k] = __ldcs(global);
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

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
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

namespace act16 {

__device__ __forceinline__ float softplus(float x) { return x > 10.0f ? x : log1pf(expf(x)); }

static __device__ __forceinline__ void d_act16_2_compute_bx2_by64_bz1_ss(float *m, float *r, int tx, int ty)
{
    for (int k = 0; k < 8; k++) r[ty * 16 + tx * 8 + k] = softplus(m[ty * 16 + tx * 8 + k]);
}

}

static __device__ __forceinline__ void d_axpby7_1_compute_bx256_by1_bz1_rrrrr(float *a, float *x, float *b, float *y, float *r, int tx)
{
    #pragma unroll
    for (int i = 0; i < 7; i++) r[0 + i] = a[0] * x[0 + i] + b[0] * y[0 + i];
}

#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]

static __device__ __forceinline__ void d_mul4_1_compute_bx64_by1_bz1_sss(float *a, float *b, float *c, int tx)
{
    a += tx * 16;
    b += tx * 16;
    c += tx * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            AT(c, i, j) = AT(a, i, 0) * AT(b, 0, j) + AT(a, i, 1) * AT(b, 1, j) + AT(a, i, 2) * AT(b, 2, j) + AT(a, i, 3) * AT(b, 3, j);
}

#undef N4
#undef AT
static __device__ __forceinline__ void d_norm7_1_compute_bx256_by1_bz1_rr(float *x, float *n, int tx)
{
    n[0] = sqrtf(dotn<7>(x + 0, x + 0));
}

// mul4, act16: 64 elements a block.
static __global__ void __launch_bounds__(128) case_1(int count, const float *__restrict__ A, float *B)
{
    __shared__ __align__(16) float shared[2048];
    float *s_A = shared;
    float *s_B_2 = shared + 1024;
    float *s_B = shared;
    const int thread = threadIdx.x + 2 * threadIdx.y;
    const int first = blockIdx.x * 64;
    const int here = min(count - first, 64);

    load_columns<16, 64, 128>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mul4 reads what other threads wrote to A in the load of A
    if (thread < 64) d_mul4_1_compute_bx64_by1_bz1_sss(s_A, s_A, s_B_2, thread);
    __syncthreads();  // act16 writes B#2 where other threads touched A in mul4
    act16::d_act16_2_compute_bx2_by64_bz1_ss(s_B_2, s_B, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#2 reads what other threads wrote to B#2 in act16
    save_block<1024, 128, true>(B + (size_t)first * 16, s_B, here * 16, thread);
}

// axpby7, norm7, axpby7: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ a, const float *__restrict__ x, float *y)
{
    float r_a[1];
    float r_x[7];
    float r_y_2[7];
    float r_n[1];
    float r_y[7];
    const int thread = threadIdx.x;
    for (int step = 0; step < 4; step++) {
        const int block = blockIdx.x * 4 + step;
        if (block * 256 >= count) break;
        const int first = block * 256;
        const int here = min(count - first, 256);

        load_own<1>(r_a, a + first + min(thread, here - 1), 0);
        load_own<7>(r_x, x + first + min(thread, here - 1), count);
        d_axpby7_1_compute_bx256_by1_bz1_rrrrr(r_a, r_x, r_a, r_x, r_y_2, threadIdx.x);
        d_norm7_1_compute_bx256_by1_bz1_rr(r_y_2, r_n, threadIdx.x);
        d_axpby7_1_compute_bx256_by1_bz1_rrrrr(r_n, r_y_2, r_a, r_x, r_y, threadIdx.x);
        save_own<7>(y + first + thread, r_y, count, thread < here);
    }
}

cudaError_t case_1_launch(int count, const float *A, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(2, 64, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, A, B);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *a, const float *x, float *y, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 1024 + 1, block, 0, stream>>>(count, a, x, y);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *x, const float *a, float *B, float *y, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, a, x, y, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *x, const float *a, float *B, float *y)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_x = nullptr;
    float *device_a = nullptr;
    float *device_B = nullptr;
    float *device_y = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_y, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_x, device_a, device_B, device_y, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(y, device_y, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_x);
    cudaFree(device_a);
    cudaFree(device_B);
    cudaFree(device_y);
    cudaFree(workspace);
    return error;
}
