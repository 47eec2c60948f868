// case: 23 calls of elementary functions in 5 kernels.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

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

namespace act16 {

__device__ __forceinline__ float softplus(float x) { return x > 10.0f ? x : log1pf(expf(x)); }

static __device__ __forceinline__ void d_act16_2_compute_bx2_by256_bz1_ss(float *m, float *r, int tx, int ty)
{
    for (int k = 0; k < 8; k++) r[ty * 16 + tx * 8 + k] = softplus(m[ty * 16 + tx * 8 + k]);
}

static __device__ __forceinline__ void d_act16_2_compute_bx2_by32_bz1_ss(float *m, float *r, int tx, int ty)
{
    for (int k = 0; k < 8; k++) r[ty * 16 + tx * 8 + k] = softplus(m[ty * 16 + tx * 8 + k]);
}

static __device__ __forceinline__ void d_act16_8_compute_bx8_by16_bz1_ss(float *m, float *r, int tx, int ty)
{
    r[(ty * 16 + tx * 2)] = softplus(m[(ty * 16 + tx * 2)]);
    r[(ty * 16 + tx * 2) + 1] = softplus(m[(ty * 16 + tx * 2) + 1]);
}

static __device__ __forceinline__ void d_act16_2_compute_bx2_by96_bz1_ss(float *m, float *r, int tx, int ty)
{
    for (int k = 0; k < 8; k++) r[ty * 16 + tx * 8 + k] = softplus(m[ty * 16 + tx * 8 + k]);
}

}

#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]

static __device__ __forceinline__ void d_mul4_1_compute_bx256_by1_bz1_sss(float *a, float *b, float *c, int tx)
{
    a += tx * 16;
    b += tx * 16;
    c += tx * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            AT(c, i, j) = AT(a, i, 0) * AT(b, 0, j) + AT(a, i, 1) * AT(b, 1, j) + AT(a, i, 2) * AT(b, 2, j) + AT(a, i, 3) * AT(b, 3, j);
}

static __device__ __forceinline__ void d_mul4_row_compute_bx4_by32_bz1_ssr(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + ty * 16 + tx * 4;
    #pragma unroll
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[j] = sum;
    }
}

static __device__ __forceinline__ void d_mul4_row_compute_bx4_by32_bz1_rsr(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + 0;
    #pragma unroll
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[j] = sum;
    }
}

static __device__ __forceinline__ void d_mul4_row_compute_bx4_by32_bz1_rss(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + 0;
    #pragma unroll
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[ty * 16 + tx * 4 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mul4_row_compute_bx4_by16_bz1_ssr(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + ty * 16 + tx * 4;
    #pragma unroll
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[j] = sum;
    }
}

static __device__ __forceinline__ void d_mul4_row_compute_bx4_by16_bz1_rsr(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + 0;
    #pragma unroll
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[j] = sum;
    }
}

static __device__ __forceinline__ void d_mul4_row_compute_bx4_by16_bz1_rss(float *a, float *b, float *c, int tx, int ty)
{
    float *row = a + 0;
    #pragma unroll
    for (int j = 0; j < N4; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < N4; k++) sum += row[k] * b[ty * 16 + k * 4 + j];
        c[ty * 16 + tx * 4 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mul4_1_compute_bx96_by1_bz1_sss(float *a, float *b, float *c, int tx)
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
// mul4, act16: 256 elements a block.
static __global__ void __launch_bounds__(512) case_1(
    int count, const float *__restrict__ A_2, const float *__restrict__ B_2, float *A_14)
{
    __shared__ __align__(16) float shared[12288];
    float *s_A_2 = shared;
    float *s_B_2 = shared + 4096;
    float *s_C = shared + 8192;
    float *s_A_14 = shared;
    const int thread = threadIdx.x + 2 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<4096, 512, true>(s_A_2, A_2 + (size_t)first * 16, here * 16, thread);
    load_block<4096, 512, true>(s_B_2, B_2 + (size_t)first * 16, here * 16, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mul4 reads what other threads wrote to A#2 in the load of A#2
    if (thread < 256) d_mul4_1_compute_bx256_by1_bz1_sss(s_A_2, s_B_2, s_C, thread);
    __syncthreads();  // act16 writes A#14 where other threads touched A#2 in mul4
    act16::d_act16_2_compute_bx2_by256_bz1_ss(s_C, s_A_14, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of A#14 reads what other threads wrote to A#14 in act16
    save_block<4096, 512, true>(A_14 + (size_t)first * 16, s_A_14, here * 16, thread);
}

// act16, mul4, act16, mul4, act16, mul4, act16, act16: 32 elements a block.
static __global__ void __launch_bounds__(128) case_2(
    int count, const float *__restrict__ A_3, const float *__restrict__ B_3, float *B_6, float *A_7,
    float *A_8)
{
    __shared__ __align__(16) float shared[1536];
    float *s_A_3 = shared;
    float *s_A_4 = shared + 512;
    float *s_B_3 = shared + 1024;
    float r_B_4[4];
    float *s_A_5 = shared;
    float r_B_5[4];
    float *s_A_6 = shared + 512;
    float *s_B_6 = shared;
    float *s_A_7 = shared + 1024;
    float *s_A_8 = shared + 512;
    const int thread = threadIdx.x + 4 * threadIdx.y;
    const int first = blockIdx.x * 32;
    const int here = min(count - first, 32);

    load_block<512, 128, true>(s_A_3, A_3 + (size_t)first * 16, here * 16, thread);
    load_block<512, 128, true>(s_B_3, B_3 + (size_t)first * 16, here * 16, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // act16 reads what other threads wrote to A#3 in the load of A#3
    if (thread < 64) act16::d_act16_2_compute_bx2_by32_bz1_ss(s_A_3, s_A_4, thread % 2, thread / 2);
    __syncthreads();  // mul4 reads what other threads wrote to A#4 in act16
    d_mul4_row_compute_bx4_by32_bz1_ssr(s_B_3, s_A_4, r_B_4, threadIdx.x, threadIdx.y);
    if (thread < 64) act16::d_act16_2_compute_bx2_by32_bz1_ss(s_A_4, s_A_5, thread % 2, thread / 2);
    __syncthreads();  // mul4 reads what other threads wrote to A#5 in act16
    d_mul4_row_compute_bx4_by32_bz1_rsr(r_B_4, s_A_5, r_B_5, threadIdx.x, threadIdx.y);
    if (thread < 64) act16::d_act16_2_compute_bx2_by32_bz1_ss(s_A_5, s_A_6, thread % 2, thread / 2);
    __syncthreads();  // mul4 writes B#6 where other threads touched A#5 in mul4
    d_mul4_row_compute_bx4_by32_bz1_rss(r_B_5, s_A_6, s_B_6, threadIdx.x, threadIdx.y);
    if (thread < 64) act16::d_act16_2_compute_bx2_by32_bz1_ss(s_A_6, s_A_7, thread % 2, thread / 2);
    __syncthreads();  // act16 writes A#8 where other threads touched A#6 in mul4
    if (thread < 64) act16::d_act16_2_compute_bx2_by32_bz1_ss(s_A_7, s_A_8, thread % 2, thread / 2);
    save_block<512, 128, true>(B_6 + (size_t)first * 16, s_B_6, here * 16, thread);
    save_block<512, 128, true>(A_7 + (size_t)first * 16, s_A_7, here * 16, thread);
    __syncthreads();  // the save of A#8 reads what other threads wrote to A#8 in act16
    save_block<512, 128, true>(A_8 + (size_t)first * 16, s_A_8, here * 16, thread);
}

// mul4, mul4, act16, mul4, act16, mul4, act16, mul4: 16 elements a block.
static __global__ void __launch_bounds__(128) case_3(
    int count, const float *__restrict__ B_6, const float *__restrict__ A_7, const float *__restrict__ A_8,
    float *A_11, float *B_11)
{
    __shared__ __align__(16) float shared[768];
    float *s_B_6 = shared;
    float *s_A_7 = shared + 256;
    float r_B_7[4];
    float *s_A_8 = shared + 512;
    float r_B_8[4];
    float *s_A_9 = shared;
    float r_B_9[4];
    float *s_A_10 = shared + 256;
    float r_B_10[4];
    float *s_A_11 = shared;
    float *s_B_11 = shared + 256;
    const int thread = threadIdx.x + 8 * threadIdx.y;
    const int first = blockIdx.x * 16;
    const int here = min(count - first, 16);

    load_block<256, 128, true>(s_B_6, B_6 + (size_t)first * 16, here * 16, thread);
    load_block<256, 128, true>(s_A_7, A_7 + (size_t)first * 16, here * 16, thread);
    load_block<256, 128, true>(s_A_8, A_8 + (size_t)first * 16, here * 16, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mul4 reads what other threads wrote to B#6 in the load of B#6
    if (thread < 64) d_mul4_row_compute_bx4_by16_bz1_ssr(s_B_6, s_A_7, r_B_7, thread % 4, thread / 4);
    if (thread < 64) d_mul4_row_compute_bx4_by16_bz1_rsr(r_B_7, s_A_8, r_B_8, thread % 4, thread / 4);
    __syncthreads();  // act16 writes A#9 where other threads touched B#6 in mul4
    act16::d_act16_8_compute_bx8_by16_bz1_ss(s_A_8, s_A_9, threadIdx.x, threadIdx.y);
    __syncthreads();  // mul4 reads what other threads wrote to A#9 in act16
    if (thread < 64) d_mul4_row_compute_bx4_by16_bz1_rsr(r_B_8, s_A_9, r_B_9, thread % 4, thread / 4);
    act16::d_act16_8_compute_bx8_by16_bz1_ss(s_A_9, s_A_10, threadIdx.x, threadIdx.y);
    __syncthreads();  // mul4 reads what other threads wrote to A#10 in act16
    if (thread < 64) d_mul4_row_compute_bx4_by16_bz1_rsr(r_B_9, s_A_10, r_B_10, thread % 4, thread / 4);
    act16::d_act16_8_compute_bx8_by16_bz1_ss(s_A_10, s_A_11, threadIdx.x, threadIdx.y);
    __syncthreads();  // mul4 writes B#11 where other threads touched A#10 in mul4
    if (thread < 64) d_mul4_row_compute_bx4_by16_bz1_rss(r_B_10, s_A_11, s_B_11, thread % 4, thread / 4);
    save_block<256, 128, true>(A_11 + (size_t)first * 16, s_A_11, here * 16, thread);
    __syncthreads();  // the save of B#11 reads what other threads wrote to B#11 in mul4
    save_block<256, 128, true>(B_11 + (size_t)first * 16, s_B_11, here * 16, thread);
}

// act16, mul4: 256 elements a block.
static __global__ void __launch_bounds__(512) case_4(
    int count, const float *__restrict__ A_12, const float *__restrict__ B_12, float *B_13)
{
    __shared__ __align__(16) float shared[12288];
    float *s_A_12 = shared;
    float *s_A_13 = shared + 4096;
    float *s_B_12 = shared + 8192;
    float *s_B_13 = shared;
    const int thread = threadIdx.x + 2 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<4096, 512, true>(s_A_12, A_12 + (size_t)first * 16, here * 16, thread);
    load_block<4096, 512, true>(s_B_12, B_12 + (size_t)first * 16, here * 16, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // act16 reads what other threads wrote to A#12 in the load of A#12
    act16::d_act16_2_compute_bx2_by256_bz1_ss(s_A_12, s_A_13, threadIdx.x, threadIdx.y);
    __syncthreads();  // mul4 writes B#13 where other threads touched A#12 in act16
    if (thread < 256) d_mul4_1_compute_bx256_by1_bz1_sss(s_B_12, s_A_13, s_B_13, thread);
    __syncthreads();  // the save of B#13 reads what other threads wrote to B#13 in mul4
    save_block<4096, 512, true>(B_13 + (size_t)first * 16, s_B_13, here * 16, thread);
}

// mul4, act16, mul4: 96 elements a block.
static __global__ void __launch_bounds__(192) case_5(
    int count, const float *__restrict__ A_out, float *E, float *F)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A_out = shared;
    float *s_D = shared + 1536;
    float *s_E = shared;
    float *s_F = shared + 3072;
    const int thread = threadIdx.x + 2 * threadIdx.y;
    const int first = blockIdx.x * 96;
    const int here = min(count - first, 96);

    load_block<1536, 192, true>(s_A_out, A_out + (size_t)first * 16, here * 16, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mul4 reads what other threads wrote to A#15 in the load of A#15
    if (thread < 96) d_mul4_1_compute_bx96_by1_bz1_sss(s_A_out, s_A_out, s_D, thread);
    __syncthreads();  // act16 writes E where other threads touched A#15 in mul4
    act16::d_act16_2_compute_bx2_by96_bz1_ss(s_D, s_E, threadIdx.x, threadIdx.y);
    __syncthreads();  // mul4 reads what other threads wrote to E in act16
    if (thread < 96) d_mul4_1_compute_bx96_by1_bz1_sss(s_D, s_E, s_F, thread);
    save_block<1536, 192, true>(E + (size_t)first * 16, s_E, here * 16, thread);
    __syncthreads();  // the save of F reads what other threads wrote to F in mul4
    save_block<1536, 192, true>(F + (size_t)first * 16, s_F, here * 16, thread);
}

cudaError_t case_1_launch(int count, const float *A_2, const float *B_2, float *A_14, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(2, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_2, B_2, A_14);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *A_3, const float *B_3, float *B_6, float *A_7, float *A_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(4, 32, 1);
    case_2<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, A_3, B_3, B_6, A_7, A_8);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *B_6, const float *A_7, const float *A_8, float *A_11, float *B_11,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(8, 16, 1);
    case_3<<<(count - 1) / 16 + 1, block, 0, stream>>>(count, B_6, A_7, A_8, A_11, B_11);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *A_12, const float *B_12, float *B_13, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(2, 256, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_12, B_12, B_13);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *A_out, float *E, float *F, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(2, 96, 1);
    case_5<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, A_out, E, F);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 144 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *A_out, float *B_out, float *F, float *E,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_A_2 = workspace;
    float *d_B_2 = workspace + room * 16;
    float *d_A_3_even = workspace + room * 32;
    float *d_A_3_odd = workspace + room * 48;
    float *d_B_3_even = workspace + room * 64;
    float *d_B_3_odd = workspace + room * 80;
    float *d_B_6 = workspace + room * 96;
    float *d_A_7 = workspace + room * 112;
    float *d_A_8 = workspace + room * 128;
    cudaError_t error = cudaSuccess;
    const float *p_A_2 = A;
    const float *p_B_2 = B;
    for (int i1 = 0; i1 < 3; i1++) {
        float *n_A_2 = i1 % 2 == 0 ? A_out : d_A_2;
        float *n_B_2 = i1 % 2 == 0 ? B_out : d_B_2;
        error = case_1_launch(count, p_A_2, p_B_2, n_A_2, stream);
        if (error != cudaSuccess) return error;
        const float *p_A_3 = p_A_2;
        const float *p_B_3 = p_B_2;
        for (int i2 = 0; i2 < 1; i2++) {
            float *n_A_3 = i2 % 2 == 0 ? d_A_3_even : d_A_3_odd;
            float *n_B_3 = i2 % 2 == 0 ? d_B_3_even : d_B_3_odd;
            error = case_2_launch(count, p_A_3, p_B_3, d_B_6, d_A_7, d_A_8, stream);
            if (error != cudaSuccess) return error;
            error = case_3_launch(count, d_B_6, d_A_7, d_A_8, n_A_3, n_B_3, stream);
            if (error != cudaSuccess) return error;
            p_A_3 = n_A_3;
            p_B_3 = n_B_3;
        }
        error = case_4_launch(count, p_A_3, p_B_3, n_B_2, stream);
        if (error != cudaSuccess) return error;
        p_A_2 = n_A_2;
        p_B_2 = n_B_2;
    }
    error = case_5_launch(count, A_out, E, F, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, float *A_out, float *B_out, float *F, float *E)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_A_out = nullptr;
    float *device_B_out = nullptr;
    float *device_F = nullptr;
    float *device_E = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_F, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_E, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_A_out, device_B_out, device_F, device_E, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(F, device_F, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(E, device_E, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_A_out);
    cudaFree(device_B_out);
    cudaFree(device_F);
    cudaFree(device_E);
    cudaFree(workspace);
    return error;
}
