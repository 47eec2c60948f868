// case: 32 calls of elementary functions in 6 kernels.
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

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_ssr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_rsr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_rss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[j] + B[ty * 9 + tx * 3 + j];
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

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by256_bz1_rss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by256_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// smmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ r, float *B_out, float *C)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A = shared;
    float *s_r = shared + 4608;
    float *s_B_out = shared + 2304;
    float *s_C = shared + 4608;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<256, 768, true>(s_r, r + (size_t)first * 1, here * 1, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to A in the load of A
    d_smmul33_2_compute_bx3_by256_bz1_sss(s_A, s_r, s_B_out, threadIdx.x, threadIdx.y);
    __syncthreads();  // mmul33 writes C where other threads touched r in smmul33
    d_mmul33_2_compute_bx3_by256_bz1_sss(s_B_out, s_A, s_C, threadIdx.x, threadIdx.y);
    save_block<2304, 768, true>(B_out + (size_t)first * 9, s_B_out, here * 9, thread);
    __syncthreads();  // the save of C reads what other threads wrote to C in mmul33
    save_block<2304, 768, true>(C + (size_t)first * 9, s_C, here * 9, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ v, const float *__restrict__ u, float *t)
{
    __shared__ __align__(16) float shared[1536];
    float *s_v = shared;
    float *s_u = shared + 768;
    float r_t[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    load_block<768, 256, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to v in the load of v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_v, s_u, r_t, threadIdx.x);
    save_own<1>(t + first + thread, r_t, 0, thread < here);
}

// mvmul33, madd33, mvmul33, madd33, mvmul33, madd33, mvmul33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_3(
    int count, const float *__restrict__ A_2, const float *__restrict__ v_2, const float *__restrict__ B_out,
    float *v_6, float *A_6)
{
    __shared__ __align__(16) float shared[6144];
    float *s_A_2 = shared;
    float *s_v_2 = shared + 4608;
    float *s_v_3 = shared + 5376;
    float *s_B_out = shared + 2304;
    float r_A_3[3];
    float *s_v_4 = shared;
    float r_A_4[3];
    float *s_v_5 = shared + 768;
    float r_A_5[3];
    float *s_v_6 = shared + 4608;
    float *s_A_6 = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A_2, A_2 + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_v_2, v_2 + (size_t)first * 3, here * 3, thread);
    load_block<2304, 768, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#2 in the load of A#2
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_A_2, s_v_2, s_v_3, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_ssr(s_A_2, s_B_out, r_A_3, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes v#4 where other threads touched A#2 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_3, s_v_3, s_v_4, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rsr(r_A_3, s_B_out, r_A_4, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 reads what other threads wrote to v#4 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_4, s_v_4, s_v_5, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rsr(r_A_4, s_B_out, r_A_5, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 reads what other threads wrote to v#5 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_5, s_v_5, s_v_6, threadIdx.x, threadIdx.y);
    __syncthreads();  // madd33 writes A#6 where other threads touched v#5 in mvmul33
    d_madd33_2_compute_bx3_by256_bz1_rss(r_A_5, s_B_out, s_A_6, threadIdx.x, threadIdx.y);
    save_block<768, 768, true>(v_6 + (size_t)first * 3, s_v_6, here * 3, thread);
    __syncthreads();  // the save of A#6 reads what other threads wrote to A#6 in madd33
    save_block<2304, 768, true>(A_6 + (size_t)first * 9, s_A_6, here * 9, thread);
}

// mvmul33, madd33, mvmul33, madd33, mvmul33, madd33, mvmul33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_4(
    int count, const float *__restrict__ A_6, const float *__restrict__ v_6, const float *__restrict__ B_out,
    float *v_10, float *A_10)
{
    __shared__ __align__(16) float shared[6144];
    float *s_A_6 = shared;
    float *s_v_6 = shared + 4608;
    float *s_v_7 = shared + 5376;
    float *s_B_out = shared + 2304;
    float r_A_7[3];
    float *s_v_8 = shared;
    float r_A_8[3];
    float *s_v_9 = shared + 768;
    float r_A_9[3];
    float *s_v_10 = shared + 4608;
    float *s_A_10 = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A_6, A_6 + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_v_6, v_6 + (size_t)first * 3, here * 3, thread);
    load_block<2304, 768, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#6 in the load of A#6
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_A_6, s_v_6, s_v_7, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_ssr(s_A_6, s_B_out, r_A_7, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes v#8 where other threads touched A#6 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_7, s_v_7, s_v_8, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rsr(r_A_7, s_B_out, r_A_8, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 reads what other threads wrote to v#8 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_8, s_v_8, s_v_9, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rsr(r_A_8, s_B_out, r_A_9, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 reads what other threads wrote to v#9 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_9, s_v_9, s_v_10, threadIdx.x, threadIdx.y);
    __syncthreads();  // madd33 writes A#10 where other threads touched v#9 in mvmul33
    d_madd33_2_compute_bx3_by256_bz1_rss(r_A_9, s_B_out, s_A_10, threadIdx.x, threadIdx.y);
    save_block<768, 768, true>(v_10 + (size_t)first * 3, s_v_10, here * 3, thread);
    __syncthreads();  // the save of A#10 reads what other threads wrote to A#10 in madd33
    save_block<2304, 768, true>(A_10 + (size_t)first * 9, s_A_10, here * 9, thread);
}

// mvmul33, madd33, mvmul33, madd33, mvmul33, madd33, mvmul33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_5(
    int count, const float *__restrict__ A_11, const float *__restrict__ v_11,
    const float *__restrict__ B_out, float *v_15, float *A_15)
{
    __shared__ __align__(16) float shared[6144];
    float *s_A_11 = shared;
    float *s_v_11 = shared + 4608;
    float *s_v_12 = shared + 5376;
    float *s_B_out = shared + 2304;
    float r_A_12[3];
    float *s_v_13 = shared;
    float r_A_13[3];
    float *s_v_14 = shared + 768;
    float r_A_14[3];
    float *s_v_15 = shared + 4608;
    float *s_A_15 = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A_11, A_11 + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_v_11, v_11 + (size_t)first * 3, here * 3, thread);
    load_block<2304, 768, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#11 in the load of A#11
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_A_11, s_v_11, s_v_12, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_ssr(s_A_11, s_B_out, r_A_12, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes v#13 where other threads touched A#11 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_12, s_v_12, s_v_13, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rsr(r_A_12, s_B_out, r_A_13, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 reads what other threads wrote to v#13 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_13, s_v_13, s_v_14, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rsr(r_A_13, s_B_out, r_A_14, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 reads what other threads wrote to v#14 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_14, s_v_14, s_v_15, threadIdx.x, threadIdx.y);
    __syncthreads();  // madd33 writes A#15 where other threads touched v#14 in mvmul33
    d_madd33_2_compute_bx3_by256_bz1_rss(r_A_14, s_B_out, s_A_15, threadIdx.x, threadIdx.y);
    save_block<768, 768, true>(v_15 + (size_t)first * 3, s_v_15, here * 3, thread);
    __syncthreads();  // the save of A#15 reads what other threads wrote to A#15 in madd33
    save_block<2304, 768, true>(A_15 + (size_t)first * 9, s_A_15, here * 9, thread);
}

// mvmul33, madd33, mvmul33, madd33, venorm3: 256 elements a block.
static __global__ void __launch_bounds__(768) case_6(
    int count, const float *__restrict__ A_15, const float *__restrict__ v_15,
    const float *__restrict__ B_out, float *v_out, float *A_out, float *r_out)
{
    __shared__ __align__(16) float shared[6144];
    float *s_A_15 = shared;
    float *s_v_15 = shared + 4608;
    float *s_v_16 = shared + 5376;
    float *s_B_out = shared + 2304;
    float r_A_16[3];
    float *s_v_out = shared + 4608;
    float *s_A_out = shared;
    float r_r_out[1];
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A_15, A_15 + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_v_15, v_15 + (size_t)first * 3, here * 3, thread);
    load_block<2304, 768, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#15 in the load of A#15
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_A_15, s_v_15, s_v_16, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_ssr(s_A_15, s_B_out, r_A_16, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes v#17 where other threads touched v#15 in mvmul33
    d_mvmul33_2_compute_bx3_by256_bz1_rss(r_A_16, s_v_16, s_v_out, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rss(r_A_16, s_B_out, s_A_out, threadIdx.x, threadIdx.y);
    __syncthreads();  // venorm3 reads what other threads wrote to v#17 in mvmul33
    if (thread < 256) d_venorm3_1_compute_bx256_by1_bz1_sr(s_v_out, r_r_out, thread);
    save_block<768, 768, true>(v_out + (size_t)first * 3, s_v_out, here * 3, thread);
    save_block<2304, 768, true>(A_out + (size_t)first * 9, s_A_out, here * 9, thread);
    save_own<1>(r_out + first + thread, r_r_out, 0, thread < here);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *r, float *B_out, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, r, B_out, C);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *v, const float *u, float *t, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, u, t);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *A_2, const float *v_2, const float *B_out, float *v_6, float *A_6,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_2, v_2, B_out, v_6, A_6);
    return cudaGetLastError();
}

cudaError_t case_4_launch(
    int count, const float *A_6, const float *v_6, const float *B_out, float *v_10, float *A_10,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_6, v_6, B_out, v_10, A_10);
    return cudaGetLastError();
}

cudaError_t case_5_launch(
    int count, const float *A_11, const float *v_11, const float *B_out, float *v_15, float *A_15,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_11, v_11, B_out, v_15, A_15);
    return cudaGetLastError();
}

cudaError_t case_6_launch(
    int count, const float *A_15, const float *v_15, const float *B_out, float *v_out, float *A_out,
    float *r_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_15, v_15, B_out, v_out, A_out, r_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 48 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *C, float *t, float *v_out, float *A_out, float *r_out, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_v_2_even = workspace;
    float *d_v_2_odd = workspace + room * 3;
    float *d_A_2_even = workspace + room * 6;
    float *d_A_2_odd = workspace + room * 15;
    float *d_v_6 = workspace + room * 24;
    float *d_A_6 = workspace + room * 27;
    float *d_v_15 = workspace + room * 36;
    float *d_A_15 = workspace + room * 39;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, r, B_out, C, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, v, u, t, stream);
    if (error != cudaSuccess) return error;
    const float *p_v_2 = v;
    const float *p_A_2 = A;
    for (int i1 = 0; i1 < 1; i1++) {
        float *n_v_2 = i1 % 2 == 0 ? d_v_2_even : d_v_2_odd;
        float *n_A_2 = i1 % 2 == 0 ? d_A_2_even : d_A_2_odd;
        error = case_3_launch(count, p_A_2, p_v_2, B_out, d_v_6, d_A_6, stream);
        if (error != cudaSuccess) return error;
        error = case_4_launch(count, d_A_6, d_v_6, B_out, n_v_2, n_A_2, stream);
        if (error != cudaSuccess) return error;
        p_v_2 = n_v_2;
        p_A_2 = n_A_2;
    }
    error = case_5_launch(count, p_A_2, p_v_2, B_out, d_v_15, d_A_15, stream);
    if (error != cudaSuccess) return error;
    error = case_6_launch(count, d_A_15, d_v_15, B_out, v_out, A_out, r_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *C, float *t, float *v_out, float *A_out, float *r_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_u = nullptr;
    float *device_v = nullptr;
    float *device_r = nullptr;
    float *device_s = nullptr;
    float *device_B_out = nullptr;
    float *device_C = nullptr;
    float *device_t = nullptr;
    float *device_v_out = nullptr;
    float *device_A_out = nullptr;
    float *device_r_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_t, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_B_out, device_C, device_t, device_v_out, device_A_out, device_r_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(t, device_t, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(r_out, device_r_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_B_out);
    cudaFree(device_C);
    cudaFree(device_t);
    cudaFree(device_v_out);
    cudaFree(device_A_out);
    cudaFree(device_r_out);
    cudaFree(workspace);
    return error;
}
