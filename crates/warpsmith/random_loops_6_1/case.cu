// case: 32 calls of elementary functions in 32 kernels.
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

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[tx * 9 + i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_sss(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_srs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[tx * 9 + i];
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

// smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ r, float *B_out)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A = shared;
    float r_r[1];
    float *s_B_out = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_r, r + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to A in the load of A
    d_smmul33_1_compute_bx256_by1_bz1_srs(s_A, r_r, s_B_out, threadIdx.x);
    __syncthreads();  // the save of B#2 reads what other threads wrote to B#2 in smmul33
    save_block<2304, 256, true>(B_out + (size_t)first * 9, s_B_out, here * 9, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ B_out, const float *__restrict__ A, float *C)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_out = shared;
    float *s_A = shared + 2304;
    float *s_C = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B#2 in the load of B#2
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_B_out, s_A, s_C, threadIdx.x);
    __syncthreads();  // the save of C reads what other threads wrote to C in mmul33
    save_block<2304, 256, true>(C + (size_t)first * 9, s_C, here * 9, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
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

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ A_2, const float *__restrict__ v_2, float *v_3)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_2 = shared;
    float *s_v_2 = shared + 2304;
    float *s_v_3 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_2, A_2 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_2, v_2 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#2 in the load of A#2
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_2, s_v_2, s_v_3, threadIdx.x);
    __syncthreads();  // the save of v#3 reads what other threads wrote to v#3 in mvmul33
    save_block<768, 256, true>(v_3 + (size_t)first * 3, s_v_3, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(
    int count, const float *__restrict__ A_2, const float *__restrict__ B_out, float *A_3)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_2 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_3 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_2, A_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#2 in the load of A#2
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_2, s_B_out, s_A_3, threadIdx.x);
    __syncthreads();  // the save of A#3 reads what other threads wrote to A#3 in madd33
    save_block<2304, 256, true>(A_3 + (size_t)first * 9, s_A_3, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(
    int count, const float *__restrict__ A_3, const float *__restrict__ v_3, float *v_4)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_3 = shared;
    float *s_v_3 = shared + 2304;
    float *s_v_4 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_3, A_3 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_3, v_3 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#3 in the load of A#3
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_3, s_v_3, s_v_4, threadIdx.x);
    __syncthreads();  // the save of v#4 reads what other threads wrote to v#4 in mvmul33
    save_block<768, 256, true>(v_4 + (size_t)first * 3, s_v_4, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_7(
    int count, const float *__restrict__ A_3, const float *__restrict__ B_out, float *A_4)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_3 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_4 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_3, A_3 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#3 in the load of A#3
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_3, s_B_out, s_A_4, threadIdx.x);
    __syncthreads();  // the save of A#4 reads what other threads wrote to A#4 in madd33
    save_block<2304, 256, true>(A_4 + (size_t)first * 9, s_A_4, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_8(
    int count, const float *__restrict__ A_4, const float *__restrict__ v_4, float *v_5)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_4 = shared;
    float *s_v_4 = shared + 2304;
    float *s_v_5 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_4, A_4 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_4, v_4 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#4 in the load of A#4
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_4, s_v_4, s_v_5, threadIdx.x);
    __syncthreads();  // the save of v#5 reads what other threads wrote to v#5 in mvmul33
    save_block<768, 256, true>(v_5 + (size_t)first * 3, s_v_5, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_9(
    int count, const float *__restrict__ A_4, const float *__restrict__ B_out, float *A_5)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_4 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_5 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_4, A_4 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#4 in the load of A#4
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_4, s_B_out, s_A_5, threadIdx.x);
    __syncthreads();  // the save of A#5 reads what other threads wrote to A#5 in madd33
    save_block<2304, 256, true>(A_5 + (size_t)first * 9, s_A_5, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_10(
    int count, const float *__restrict__ A_5, const float *__restrict__ v_5, float *v_6)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_5 = shared;
    float *s_v_5 = shared + 2304;
    float *s_v_6 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_5, A_5 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_5, v_5 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#5 in the load of A#5
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_5, s_v_5, s_v_6, threadIdx.x);
    __syncthreads();  // the save of v#6 reads what other threads wrote to v#6 in mvmul33
    save_block<768, 256, true>(v_6 + (size_t)first * 3, s_v_6, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_11(
    int count, const float *__restrict__ A_5, const float *__restrict__ B_out, float *A_6)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_5 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_6 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_5, A_5 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#5 in the load of A#5
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_5, s_B_out, s_A_6, threadIdx.x);
    __syncthreads();  // the save of A#6 reads what other threads wrote to A#6 in madd33
    save_block<2304, 256, true>(A_6 + (size_t)first * 9, s_A_6, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_12(
    int count, const float *__restrict__ A_6, const float *__restrict__ v_6, float *v_7)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_6 = shared;
    float *s_v_6 = shared + 2304;
    float *s_v_7 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_6, A_6 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_6, v_6 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#6 in the load of A#6
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_6, s_v_6, s_v_7, threadIdx.x);
    __syncthreads();  // the save of v#7 reads what other threads wrote to v#7 in mvmul33
    save_block<768, 256, true>(v_7 + (size_t)first * 3, s_v_7, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_13(
    int count, const float *__restrict__ A_6, const float *__restrict__ B_out, float *A_7)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_6 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_7 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_6, A_6 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#6 in the load of A#6
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_6, s_B_out, s_A_7, threadIdx.x);
    __syncthreads();  // the save of A#7 reads what other threads wrote to A#7 in madd33
    save_block<2304, 256, true>(A_7 + (size_t)first * 9, s_A_7, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_14(
    int count, const float *__restrict__ A_7, const float *__restrict__ v_7, float *v_8)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_7 = shared;
    float *s_v_7 = shared + 2304;
    float *s_v_8 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_7, A_7 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_7, v_7 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#7 in the load of A#7
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_7, s_v_7, s_v_8, threadIdx.x);
    __syncthreads();  // the save of v#8 reads what other threads wrote to v#8 in mvmul33
    save_block<768, 256, true>(v_8 + (size_t)first * 3, s_v_8, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_15(
    int count, const float *__restrict__ A_7, const float *__restrict__ B_out, float *A_8)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_7 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_8 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_7, A_7 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#7 in the load of A#7
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_7, s_B_out, s_A_8, threadIdx.x);
    __syncthreads();  // the save of A#8 reads what other threads wrote to A#8 in madd33
    save_block<2304, 256, true>(A_8 + (size_t)first * 9, s_A_8, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_16(
    int count, const float *__restrict__ A_8, const float *__restrict__ v_8, float *v_9)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_8 = shared;
    float *s_v_8 = shared + 2304;
    float *s_v_9 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_8, A_8 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_8, v_8 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#8 in the load of A#8
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_8, s_v_8, s_v_9, threadIdx.x);
    __syncthreads();  // the save of v#9 reads what other threads wrote to v#9 in mvmul33
    save_block<768, 256, true>(v_9 + (size_t)first * 3, s_v_9, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_17(
    int count, const float *__restrict__ A_8, const float *__restrict__ B_out, float *A_9)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_8 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_9 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_8, A_8 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#8 in the load of A#8
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_8, s_B_out, s_A_9, threadIdx.x);
    __syncthreads();  // the save of A#9 reads what other threads wrote to A#9 in madd33
    save_block<2304, 256, true>(A_9 + (size_t)first * 9, s_A_9, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_18(
    int count, const float *__restrict__ A_9, const float *__restrict__ v_9, float *v_10)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_9 = shared;
    float *s_v_9 = shared + 2304;
    float *s_v_10 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_9, A_9 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_9, v_9 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#9 in the load of A#9
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_9, s_v_9, s_v_10, threadIdx.x);
    __syncthreads();  // the save of v#10 reads what other threads wrote to v#10 in mvmul33
    save_block<768, 256, true>(v_10 + (size_t)first * 3, s_v_10, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_19(
    int count, const float *__restrict__ A_9, const float *__restrict__ B_out, float *A_10)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_9 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_10 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_9, A_9 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#9 in the load of A#9
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_9, s_B_out, s_A_10, threadIdx.x);
    __syncthreads();  // the save of A#10 reads what other threads wrote to A#10 in madd33
    save_block<2304, 256, true>(A_10 + (size_t)first * 9, s_A_10, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_20(
    int count, const float *__restrict__ A_11, const float *__restrict__ v_11, float *v_12)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_11 = shared;
    float *s_v_11 = shared + 2304;
    float *s_v_12 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_11, A_11 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_11, v_11 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#11 in the load of A#11
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_11, s_v_11, s_v_12, threadIdx.x);
    __syncthreads();  // the save of v#12 reads what other threads wrote to v#12 in mvmul33
    save_block<768, 256, true>(v_12 + (size_t)first * 3, s_v_12, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_21(
    int count, const float *__restrict__ A_11, const float *__restrict__ B_out, float *A_12)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_11 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_12 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_11, A_11 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#11 in the load of A#11
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_11, s_B_out, s_A_12, threadIdx.x);
    __syncthreads();  // the save of A#12 reads what other threads wrote to A#12 in madd33
    save_block<2304, 256, true>(A_12 + (size_t)first * 9, s_A_12, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_22(
    int count, const float *__restrict__ A_12, const float *__restrict__ v_12, float *v_13)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_12 = shared;
    float *s_v_12 = shared + 2304;
    float *s_v_13 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_12, A_12 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_12, v_12 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#12 in the load of A#12
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_12, s_v_12, s_v_13, threadIdx.x);
    __syncthreads();  // the save of v#13 reads what other threads wrote to v#13 in mvmul33
    save_block<768, 256, true>(v_13 + (size_t)first * 3, s_v_13, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_23(
    int count, const float *__restrict__ A_12, const float *__restrict__ B_out, float *A_13)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_12 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_13 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_12, A_12 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#12 in the load of A#12
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_12, s_B_out, s_A_13, threadIdx.x);
    __syncthreads();  // the save of A#13 reads what other threads wrote to A#13 in madd33
    save_block<2304, 256, true>(A_13 + (size_t)first * 9, s_A_13, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_24(
    int count, const float *__restrict__ A_13, const float *__restrict__ v_13, float *v_14)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_13 = shared;
    float *s_v_13 = shared + 2304;
    float *s_v_14 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_13, A_13 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_13, v_13 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#13 in the load of A#13
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_13, s_v_13, s_v_14, threadIdx.x);
    __syncthreads();  // the save of v#14 reads what other threads wrote to v#14 in mvmul33
    save_block<768, 256, true>(v_14 + (size_t)first * 3, s_v_14, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_25(
    int count, const float *__restrict__ A_13, const float *__restrict__ B_out, float *A_14)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_13 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_14 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_13, A_13 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#13 in the load of A#13
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_13, s_B_out, s_A_14, threadIdx.x);
    __syncthreads();  // the save of A#14 reads what other threads wrote to A#14 in madd33
    save_block<2304, 256, true>(A_14 + (size_t)first * 9, s_A_14, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_26(
    int count, const float *__restrict__ A_14, const float *__restrict__ v_14, float *v_15)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_14 = shared;
    float *s_v_14 = shared + 2304;
    float *s_v_15 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_14, A_14 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_14, v_14 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#14 in the load of A#14
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_14, s_v_14, s_v_15, threadIdx.x);
    __syncthreads();  // the save of v#15 reads what other threads wrote to v#15 in mvmul33
    save_block<768, 256, true>(v_15 + (size_t)first * 3, s_v_15, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_27(
    int count, const float *__restrict__ A_14, const float *__restrict__ B_out, float *A_15)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_14 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_15 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_14, A_14 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#14 in the load of A#14
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_14, s_B_out, s_A_15, threadIdx.x);
    __syncthreads();  // the save of A#15 reads what other threads wrote to A#15 in madd33
    save_block<2304, 256, true>(A_15 + (size_t)first * 9, s_A_15, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_28(
    int count, const float *__restrict__ A_15, const float *__restrict__ v_15, float *v_16)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_15 = shared;
    float *s_v_15 = shared + 2304;
    float *s_v_16 = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_15, A_15 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_15, v_15 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#15 in the load of A#15
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_15, s_v_15, s_v_16, threadIdx.x);
    __syncthreads();  // the save of v#16 reads what other threads wrote to v#16 in mvmul33
    save_block<768, 256, true>(v_16 + (size_t)first * 3, s_v_16, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_29(
    int count, const float *__restrict__ A_15, const float *__restrict__ B_out, float *A_16)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_15 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_16 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_15, A_15 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#15 in the load of A#15
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_15, s_B_out, s_A_16, threadIdx.x);
    __syncthreads();  // the save of A#16 reads what other threads wrote to A#16 in madd33
    save_block<2304, 256, true>(A_16 + (size_t)first * 9, s_A_16, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_30(
    int count, const float *__restrict__ A_16, const float *__restrict__ v_16, float *v_out)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_16 = shared;
    float *s_v_16 = shared + 2304;
    float *s_v_out = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_16, A_16 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_16, v_16 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#16 in the load of A#16
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_16, s_v_16, s_v_out, threadIdx.x);
    __syncthreads();  // the save of v#17 reads what other threads wrote to v#17 in mvmul33
    save_block<768, 256, true>(v_out + (size_t)first * 3, s_v_out, here * 3, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_31(
    int count, const float *__restrict__ A_16, const float *__restrict__ B_out, float *A_out)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_16 = shared;
    float *s_B_out = shared + 2304;
    float *s_A_out = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_16, A_16 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A#16 in the load of A#16
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A_16, s_B_out, s_A_out, threadIdx.x);
    __syncthreads();  // the save of A#17 reads what other threads wrote to A#17 in madd33
    save_block<2304, 256, true>(A_out + (size_t)first * 9, s_A_out, here * 9, thread);
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_32(
    int count, const float *__restrict__ v_out, float *r_out)
{
    __shared__ __align__(16) float shared[768];
    float *s_v_out = shared;
    float r_r_out[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v_out, v_out + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to v#17 in the load of v#17
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_v_out, r_r_out, threadIdx.x);
    save_own<1>(r_out + first + thread, r_r_out, 0, thread < here);
}

cudaError_t case_1_launch(int count, const float *A, const float *r, float *B_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, r, B_out);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *B_out, const float *A, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_out, A, C);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *v, const float *u, float *t, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, u, t);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *A_2, const float *v_2, float *v_3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_2, v_2, v_3);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *A_2, const float *B_out, float *A_3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_2, B_out, A_3);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *A_3, const float *v_3, float *v_4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_3, v_3, v_4);
    return cudaGetLastError();
}

cudaError_t case_7_launch(int count, const float *A_3, const float *B_out, float *A_4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_7<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_3, B_out, A_4);
    return cudaGetLastError();
}

cudaError_t case_8_launch(int count, const float *A_4, const float *v_4, float *v_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_8<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_4, v_4, v_5);
    return cudaGetLastError();
}

cudaError_t case_9_launch(int count, const float *A_4, const float *B_out, float *A_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_9<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_4, B_out, A_5);
    return cudaGetLastError();
}

cudaError_t case_10_launch(int count, const float *A_5, const float *v_5, float *v_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_10<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_5, v_5, v_6);
    return cudaGetLastError();
}

cudaError_t case_11_launch(int count, const float *A_5, const float *B_out, float *A_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_11<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_5, B_out, A_6);
    return cudaGetLastError();
}

cudaError_t case_12_launch(int count, const float *A_6, const float *v_6, float *v_7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_12<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_6, v_6, v_7);
    return cudaGetLastError();
}

cudaError_t case_13_launch(int count, const float *A_6, const float *B_out, float *A_7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_13<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_6, B_out, A_7);
    return cudaGetLastError();
}

cudaError_t case_14_launch(int count, const float *A_7, const float *v_7, float *v_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_14<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_7, v_7, v_8);
    return cudaGetLastError();
}

cudaError_t case_15_launch(int count, const float *A_7, const float *B_out, float *A_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_15<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_7, B_out, A_8);
    return cudaGetLastError();
}

cudaError_t case_16_launch(int count, const float *A_8, const float *v_8, float *v_9, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_16<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_8, v_8, v_9);
    return cudaGetLastError();
}

cudaError_t case_17_launch(int count, const float *A_8, const float *B_out, float *A_9, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_17<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_8, B_out, A_9);
    return cudaGetLastError();
}

cudaError_t case_18_launch(int count, const float *A_9, const float *v_9, float *v_10, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_18<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_9, v_9, v_10);
    return cudaGetLastError();
}

cudaError_t case_19_launch(int count, const float *A_9, const float *B_out, float *A_10, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_19<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_9, B_out, A_10);
    return cudaGetLastError();
}

cudaError_t case_20_launch(int count, const float *A_11, const float *v_11, float *v_12, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_20<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_11, v_11, v_12);
    return cudaGetLastError();
}

cudaError_t case_21_launch(int count, const float *A_11, const float *B_out, float *A_12, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_21<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_11, B_out, A_12);
    return cudaGetLastError();
}

cudaError_t case_22_launch(int count, const float *A_12, const float *v_12, float *v_13, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_22<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_12, v_12, v_13);
    return cudaGetLastError();
}

cudaError_t case_23_launch(int count, const float *A_12, const float *B_out, float *A_13, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_23<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_12, B_out, A_13);
    return cudaGetLastError();
}

cudaError_t case_24_launch(int count, const float *A_13, const float *v_13, float *v_14, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_24<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_13, v_13, v_14);
    return cudaGetLastError();
}

cudaError_t case_25_launch(int count, const float *A_13, const float *B_out, float *A_14, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_25<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_13, B_out, A_14);
    return cudaGetLastError();
}

cudaError_t case_26_launch(int count, const float *A_14, const float *v_14, float *v_15, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_26<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_14, v_14, v_15);
    return cudaGetLastError();
}

cudaError_t case_27_launch(int count, const float *A_14, const float *B_out, float *A_15, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_27<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_14, B_out, A_15);
    return cudaGetLastError();
}

cudaError_t case_28_launch(int count, const float *A_15, const float *v_15, float *v_16, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_28<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_15, v_15, v_16);
    return cudaGetLastError();
}

cudaError_t case_29_launch(int count, const float *A_15, const float *B_out, float *A_16, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_29<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_15, B_out, A_16);
    return cudaGetLastError();
}

cudaError_t case_30_launch(int count, const float *A_16, const float *v_16, float *v_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_30<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_16, v_16, v_out);
    return cudaGetLastError();
}

cudaError_t case_31_launch(
    int count, const float *A_16, const float *B_out, float *A_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_31<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_16, B_out, A_out);
    return cudaGetLastError();
}

cudaError_t case_32_launch(int count, const float *v_out, float *r_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_32<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v_out, r_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 168 * sizeof(float);
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
    float *d_v_3 = workspace + room * 24;
    float *d_A_3 = workspace + room * 27;
    float *d_v_4 = workspace + room * 36;
    float *d_A_4 = workspace + room * 39;
    float *d_v_5 = workspace + room * 48;
    float *d_A_5 = workspace + room * 51;
    float *d_v_6 = workspace + room * 60;
    float *d_A_6 = workspace + room * 63;
    float *d_v_7 = workspace + room * 72;
    float *d_A_7 = workspace + room * 75;
    float *d_v_8 = workspace + room * 84;
    float *d_A_8 = workspace + room * 87;
    float *d_v_9 = workspace + room * 96;
    float *d_A_9 = workspace + room * 99;
    float *d_v_12 = workspace + room * 108;
    float *d_A_12 = workspace + room * 111;
    float *d_v_13 = workspace + room * 120;
    float *d_A_13 = workspace + room * 123;
    float *d_v_14 = workspace + room * 132;
    float *d_A_14 = workspace + room * 135;
    float *d_v_15 = workspace + room * 144;
    float *d_A_15 = workspace + room * 147;
    float *d_v_16 = workspace + room * 156;
    float *d_A_16 = workspace + room * 159;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, r, B_out, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, B_out, A, C, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, v, u, t, stream);
    if (error != cudaSuccess) return error;
    const float *p_v_2 = v;
    const float *p_A_2 = A;
    for (int i1 = 0; i1 < 1; i1++) {
        float *n_v_2 = i1 % 2 == 0 ? d_v_2_even : d_v_2_odd;
        float *n_A_2 = i1 % 2 == 0 ? d_A_2_even : d_A_2_odd;
        error = case_4_launch(count, p_A_2, p_v_2, d_v_3, stream);
        if (error != cudaSuccess) return error;
        error = case_5_launch(count, p_A_2, B_out, d_A_3, stream);
        if (error != cudaSuccess) return error;
        error = case_6_launch(count, d_A_3, d_v_3, d_v_4, stream);
        if (error != cudaSuccess) return error;
        error = case_7_launch(count, d_A_3, B_out, d_A_4, stream);
        if (error != cudaSuccess) return error;
        error = case_8_launch(count, d_A_4, d_v_4, d_v_5, stream);
        if (error != cudaSuccess) return error;
        error = case_9_launch(count, d_A_4, B_out, d_A_5, stream);
        if (error != cudaSuccess) return error;
        error = case_10_launch(count, d_A_5, d_v_5, d_v_6, stream);
        if (error != cudaSuccess) return error;
        error = case_11_launch(count, d_A_5, B_out, d_A_6, stream);
        if (error != cudaSuccess) return error;
        error = case_12_launch(count, d_A_6, d_v_6, d_v_7, stream);
        if (error != cudaSuccess) return error;
        error = case_13_launch(count, d_A_6, B_out, d_A_7, stream);
        if (error != cudaSuccess) return error;
        error = case_14_launch(count, d_A_7, d_v_7, d_v_8, stream);
        if (error != cudaSuccess) return error;
        error = case_15_launch(count, d_A_7, B_out, d_A_8, stream);
        if (error != cudaSuccess) return error;
        error = case_16_launch(count, d_A_8, d_v_8, d_v_9, stream);
        if (error != cudaSuccess) return error;
        error = case_17_launch(count, d_A_8, B_out, d_A_9, stream);
        if (error != cudaSuccess) return error;
        error = case_18_launch(count, d_A_9, d_v_9, n_v_2, stream);
        if (error != cudaSuccess) return error;
        error = case_19_launch(count, d_A_9, B_out, n_A_2, stream);
        if (error != cudaSuccess) return error;
        p_v_2 = n_v_2;
        p_A_2 = n_A_2;
    }
    error = case_20_launch(count, p_A_2, p_v_2, d_v_12, stream);
    if (error != cudaSuccess) return error;
    error = case_21_launch(count, p_A_2, B_out, d_A_12, stream);
    if (error != cudaSuccess) return error;
    error = case_22_launch(count, d_A_12, d_v_12, d_v_13, stream);
    if (error != cudaSuccess) return error;
    error = case_23_launch(count, d_A_12, B_out, d_A_13, stream);
    if (error != cudaSuccess) return error;
    error = case_24_launch(count, d_A_13, d_v_13, d_v_14, stream);
    if (error != cudaSuccess) return error;
    error = case_25_launch(count, d_A_13, B_out, d_A_14, stream);
    if (error != cudaSuccess) return error;
    error = case_26_launch(count, d_A_14, d_v_14, d_v_15, stream);
    if (error != cudaSuccess) return error;
    error = case_27_launch(count, d_A_14, B_out, d_A_15, stream);
    if (error != cudaSuccess) return error;
    error = case_28_launch(count, d_A_15, d_v_15, d_v_16, stream);
    if (error != cudaSuccess) return error;
    error = case_29_launch(count, d_A_15, B_out, d_A_16, stream);
    if (error != cudaSuccess) return error;
    error = case_30_launch(count, d_A_16, d_v_16, v_out, stream);
    if (error != cudaSuccess) return error;
    error = case_31_launch(count, d_A_16, B_out, A_out, stream);
    if (error != cudaSuccess) return error;
    error = case_32_launch(count, v_out, r_out, stream);
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
