// case: 15 calls of elementary functions in 15 kernels.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "case.h"

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

// Copies a block's elements from shared memory to a structure of arrays. Only the first `here` exist.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void save_columns(float *global, const float *shared, size_t pitch, int here, int thread)
{
    constexpr int ROWS = THREADS / ELEMENTS;
    const int e = thread % ELEMENTS, first = thread / ELEMENTS;
    if (e >= here) return;
    float *to = global + first * pitch + e;
    #pragma unroll
    for (int k = first; k < SIZE; k += ROWS) {
        __stcs(to, shared[e * SIZE + k]);
        to += ROWS * pitch;
    }
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_mmul33_2_compute_bx3_by256_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * B[ty * 9 + k * 3 + j];
        C[ty * 9 + tx * 3 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by256_bz1_sss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smmul55_2_compute_bx5_by96_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++) C[ty * 25 + tx * 5 + j] = s[ty] * A[ty * 25 + tx * 5 + j];
}

static __device__ __forceinline__ void d_ttmul3212_2_compute_bx9_by32_bz1_sss(float *T, float *M, float *R, int tx, int ty)
{
    #pragma unroll
    for (int k = 0; k < 3; k++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[ty * 27 + tx * 3 + l] * M[ty * 9 + k * 3 + l];
        R[ty * 27 + tx * 3 + k] = sum;
    }
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ D, float *B_2)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A = shared;
    float *s_D = shared + 2304;
    float *s_B_2 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    load_block<2304, 768, true>(s_D, D + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A in the load of A
    d_mmul33_2_compute_bx3_by256_bz1_sss(s_A, s_D, s_B_2, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B reads what other threads wrote to B in mmul33
    save_columns<9, 256, 768>(B_2 + first, s_B_2, count, here, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_2(
    int count, const float *__restrict__ B_2, const float *__restrict__ v, float *w)
{
    __shared__ __align__(16) float shared[3840];
    float *s_B_2 = shared;
    float *s_v = shared + 2304;
    float *s_w = shared + 3072;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_2, B_2 + first, count, here, thread);
    load_block<768, 768, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to B in the load of B
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_B_2, s_v, s_w, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of w reads what other threads wrote to w in mvmul33
    save_columns<3, 256, 768>(w + first, s_w, count, here, thread);
}

// ttmul3212: 32 elements a block.
static __global__ void __launch_bounds__(288) case_3(
    int count, const float *__restrict__ T, const float *__restrict__ B_2, float *U)
{
    __shared__ __align__(16) float shared[2016];
    float *s_T = shared;
    float *s_B_2 = shared + 1728;
    float *s_U = shared + 864;
    const int thread = threadIdx.x + 9 * threadIdx.y;
    const int first = blockIdx.x * 32;
    const int here = min(count - first, 32);

    load_columns<27, 32, 288>(s_T, T + first, count, here, thread);
    load_columns<9, 32, 288>(s_B_2, B_2 + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // ttmul3212 reads what other threads wrote to T in the load of T
    d_ttmul3212_2_compute_bx9_by32_bz1_sss(s_T, s_B_2, s_U, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of U reads what other threads wrote to U in ttmul3212
    save_columns<27, 32, 288>(U + first, s_U, count, here, thread);
}

// smmul55: 96 elements a block.
static __global__ void __launch_bounds__(480) case_4(
    int count, const float *__restrict__ E, const float *__restrict__ s, float *F)
{
    __shared__ __align__(16) float shared[4896];
    float *s_E = shared;
    float *s_s = shared + 4800;
    float *s_F = shared + 2400;
    const int thread = threadIdx.x + 5 * threadIdx.y;
    const int first = blockIdx.x * 96;
    const int here = min(count - first, 96);

    load_block<2400, 480, true>(s_E, E + (size_t)first * 25, here * 25, thread);
    load_columns<1, 96, 480>(s_s, s + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul55 reads what other threads wrote to E in the load of E
    d_smmul55_2_compute_bx5_by96_bz1_sss(s_E, s_s, s_F, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of F reads what other threads wrote to F in smmul55
    save_columns<25, 96, 480>(F + first, s_F, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_5(
    int count, const float *__restrict__ B_3, const float *__restrict__ A, float *B_4)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_3 = shared;
    float *s_A = shared + 2304;
    float *s_B_4 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_3, B_3 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#2 in the load of B#2
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_3, s_A, s_B_4, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#3 reads what other threads wrote to B#3 in madd33
    save_columns<9, 256, 768>(B_4 + first, s_B_4, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_6(
    int count, const float *__restrict__ B_4, const float *__restrict__ A, float *B_5)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_4 = shared;
    float *s_A = shared + 2304;
    float *s_B_5 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_4, B_4 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#3 in the load of B#3
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_4, s_A, s_B_5, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#4 reads what other threads wrote to B#4 in madd33
    save_columns<9, 256, 768>(B_5 + first, s_B_5, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_7(
    int count, const float *__restrict__ B_5, const float *__restrict__ A, float *B_6)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_5 = shared;
    float *s_A = shared + 2304;
    float *s_B_6 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_5, B_5 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#4 in the load of B#4
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_5, s_A, s_B_6, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#5 reads what other threads wrote to B#5 in madd33
    save_columns<9, 256, 768>(B_6 + first, s_B_6, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_8(
    int count, const float *__restrict__ B_6, const float *__restrict__ A, float *B_7)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_6 = shared;
    float *s_A = shared + 2304;
    float *s_B_7 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_6, B_6 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#5 in the load of B#5
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_6, s_A, s_B_7, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#6 reads what other threads wrote to B#6 in madd33
    save_columns<9, 256, 768>(B_7 + first, s_B_7, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_9(
    int count, const float *__restrict__ B_7, const float *__restrict__ A, float *B_8)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_7 = shared;
    float *s_A = shared + 2304;
    float *s_B_8 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_7, B_7 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#6 in the load of B#6
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_7, s_A, s_B_8, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#7 reads what other threads wrote to B#7 in madd33
    save_columns<9, 256, 768>(B_8 + first, s_B_8, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_10(
    int count, const float *__restrict__ B_8, const float *__restrict__ A, float *B_9)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_8 = shared;
    float *s_A = shared + 2304;
    float *s_B_9 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_8, B_8 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#7 in the load of B#7
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_8, s_A, s_B_9, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#8 reads what other threads wrote to B#8 in madd33
    save_columns<9, 256, 768>(B_9 + first, s_B_9, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_11(
    int count, const float *__restrict__ B_9, const float *__restrict__ A, float *B_10)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_9 = shared;
    float *s_A = shared + 2304;
    float *s_B_10 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_9, B_9 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#8 in the load of B#8
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_9, s_A, s_B_10, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#9 reads what other threads wrote to B#9 in madd33
    save_columns<9, 256, 768>(B_10 + first, s_B_10, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_12(
    int count, const float *__restrict__ B_10, const float *__restrict__ A, float *B_11)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_10 = shared;
    float *s_A = shared + 2304;
    float *s_B_11 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_10, B_10 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#9 in the load of B#9
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_10, s_A, s_B_11, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#10 reads what other threads wrote to B#10 in madd33
    save_columns<9, 256, 768>(B_11 + first, s_B_11, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_13(
    int count, const float *__restrict__ B_11, const float *__restrict__ A, float *B_12)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_11 = shared;
    float *s_A = shared + 2304;
    float *s_B_12 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_11, B_11 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#10 in the load of B#10
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_11, s_A, s_B_12, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#11 reads what other threads wrote to B#11 in madd33
    save_columns<9, 256, 768>(B_12 + first, s_B_12, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_14(
    int count, const float *__restrict__ B_12, const float *__restrict__ A, float *B_13)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_12 = shared;
    float *s_A = shared + 2304;
    float *s_B_13 = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B_12, B_12 + first, count, here, thread);
    load_columns<9, 256, 768>(s_A, A + first, count, here, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#11 in the load of B#11
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B_12, s_A, s_B_13, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#12 reads what other threads wrote to B#12 in madd33
    save_columns<9, 256, 768>(B_13 + first, s_B_13, count, here, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_15(
    int count, const float *__restrict__ B, const float *__restrict__ D, float *C)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B = shared;
    float *s_D = shared + 2304;
    float *s_C = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_columns<9, 256, 768>(s_B, B + first, count, here, thread);
    load_block<2304, 768, true>(s_D, D + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#13 in the load of B#13
    d_madd33_2_compute_bx3_by256_bz1_sss(s_B, s_D, s_C, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of C reads what other threads wrote to C in madd33
    save_columns<9, 256, 768>(C + first, s_C, count, here, thread);
}

cudaError_t case_1_launch(int count, const float *A, const float *D, float *B_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, D, B_2);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *B_2, const float *v, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_2, v, w);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *T, const float *B_2, float *U, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(9, 32, 1);
    case_3<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, T, B_2, U);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *E, const float *s, float *F, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(5, 96, 1);
    case_4<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, E, s, F);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *B_3, const float *A, float *B_4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_3, A, B_4);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *B_4, const float *A, float *B_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_4, A, B_5);
    return cudaGetLastError();
}

cudaError_t case_7_launch(int count, const float *B_5, const float *A, float *B_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_7<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_5, A, B_6);
    return cudaGetLastError();
}

cudaError_t case_8_launch(int count, const float *B_6, const float *A, float *B_7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_8<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_6, A, B_7);
    return cudaGetLastError();
}

cudaError_t case_9_launch(int count, const float *B_7, const float *A, float *B_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_9<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_7, A, B_8);
    return cudaGetLastError();
}

cudaError_t case_10_launch(int count, const float *B_8, const float *A, float *B_9, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_10<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_8, A, B_9);
    return cudaGetLastError();
}

cudaError_t case_11_launch(int count, const float *B_9, const float *A, float *B_10, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_11<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_9, A, B_10);
    return cudaGetLastError();
}

cudaError_t case_12_launch(int count, const float *B_10, const float *A, float *B_11, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_12<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_10, A, B_11);
    return cudaGetLastError();
}

cudaError_t case_13_launch(int count, const float *B_11, const float *A, float *B_12, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_13<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_11, A, B_12);
    return cudaGetLastError();
}

cudaError_t case_14_launch(int count, const float *B_12, const float *A, float *B_13, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_14<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_12, A, B_13);
    return cudaGetLastError();
}

cudaError_t case_15_launch(int count, const float *B, const float *D, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_15<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B, D, C);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 99 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *T, const float *v, const float *D, const float *E, const float *s,
    float *B, float *C, float *w, float *U, float *F, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_B_2 = workspace;
    float *d_B_3 = workspace + room * 9;
    float *d_B_4 = workspace + room * 18;
    float *d_B_5 = workspace + room * 27;
    float *d_B_6 = workspace + room * 36;
    float *d_B_7 = workspace + room * 45;
    float *d_B_8 = workspace + room * 54;
    float *d_B_9 = workspace + room * 63;
    float *d_B_10 = workspace + room * 72;
    float *d_B_11 = workspace + room * 81;
    float *d_B_12 = workspace + room * 90;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, D, d_B_2, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, d_B_2, v, w, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, T, d_B_2, U, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, E, s, F, stream);
    if (error != cudaSuccess) return error;
    const float *p_B_3 = d_B_2;
    for (int i1 = 0; i1 < 4; i1++) {
        float *n_B_3 = i1 % 2 == 0 ? d_B_3 : B;
        error = case_5_launch(count, p_B_3, A, d_B_4, stream);
        if (error != cudaSuccess) return error;
        error = case_6_launch(count, d_B_4, A, d_B_5, stream);
        if (error != cudaSuccess) return error;
        error = case_7_launch(count, d_B_5, A, d_B_6, stream);
        if (error != cudaSuccess) return error;
        error = case_8_launch(count, d_B_6, A, d_B_7, stream);
        if (error != cudaSuccess) return error;
        error = case_9_launch(count, d_B_7, A, d_B_8, stream);
        if (error != cudaSuccess) return error;
        error = case_10_launch(count, d_B_8, A, d_B_9, stream);
        if (error != cudaSuccess) return error;
        error = case_11_launch(count, d_B_9, A, d_B_10, stream);
        if (error != cudaSuccess) return error;
        error = case_12_launch(count, d_B_10, A, d_B_11, stream);
        if (error != cudaSuccess) return error;
        error = case_13_launch(count, d_B_11, A, d_B_12, stream);
        if (error != cudaSuccess) return error;
        error = case_14_launch(count, d_B_12, A, n_B_3, stream);
        if (error != cudaSuccess) return error;
        p_B_3 = n_B_3;
    }
    error = case_15_launch(count, B, D, C, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *T, const float *v, const float *D, const float *E, const float *s,
    float *B, float *C, float *w, float *U, float *F)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_T = nullptr;
    float *device_v = nullptr;
    float *device_D = nullptr;
    float *device_E = nullptr;
    float *device_s = nullptr;
    float *device_B = nullptr;
    float *device_C = nullptr;
    float *device_w = nullptr;
    float *device_U = nullptr;
    float *device_F = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_T, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_D, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_E, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_U, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_F, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_T, T, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_D, D, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_E, E, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_T, device_v, device_D, device_E, device_s, device_B, device_C, device_w, device_U, device_F, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(U, device_U, (size_t)count * 27 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(F, device_F, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_T);
    cudaFree(device_v);
    cudaFree(device_D);
    cudaFree(device_E);
    cudaFree(device_s);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_w);
    cudaFree(device_U);
    cudaFree(device_F);
    cudaFree(workspace);
    return error;
}
