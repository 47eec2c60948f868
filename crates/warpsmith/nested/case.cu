// case: 27 calls of elementary functions in 7 kernels.
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

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_rsr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_rss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[i] + B[tx * 9 + i];
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

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_srs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[tx * 9 + i];
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_srr(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = s[0] * A[tx * 9 + i];
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_rrr(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = s[0] * A[i];
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_rrs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[i];
}

// smmul33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ s, float *B_2, float *D_2)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A = shared;
    float r_s[1];
    float *s_B_2 = shared + 2304;
    float *s_D_2 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to A in the load of A
    d_smmul33_1_compute_bx256_by1_bz1_srs(s_A, r_s, s_B_2, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A, s_A, s_D_2, threadIdx.x);
    __syncthreads();  // the save of B reads what other threads wrote to B in smmul33
    save_block<2304, 256, true>(B_2 + (size_t)first * 9, s_B_2, here * 9, thread);
    save_block<2304, 256, true>(D_2 + (size_t)first * 9, s_D_2, here * 9, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ B_3, const float *__restrict__ A, float *C_2)
{
    __shared__ __align__(16) float shared[6912];
    float *s_B_3 = shared;
    float *s_A = shared + 2304;
    float *s_C_2 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_3, B_3 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B#2 in the load of B#2
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_B_3, s_A, s_C_2, threadIdx.x);
    __syncthreads();  // the save of C reads what other threads wrote to C in mmul33
    save_block<2304, 256, true>(C_2 + (size_t)first * 9, s_C_2, here * 9, thread);
}

// smmul33, smmul33, smmul33, smmul33, smmul33, smmul33, smmul33, smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ B_5, const float *__restrict__ s, float *B_13)
{
    __shared__ __align__(16) float shared[2304];
    float *s_B_5 = shared;
    float r_s[1];
    float r_B_6[9];
    float r_B_7[9];
    float r_B_8[9];
    float r_B_9[9];
    float r_B_10[9];
    float r_B_11[9];
    float r_B_12[9];
    float *s_B_13 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_5, B_5 + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to B#4 in the load of B#4
    d_smmul33_1_compute_bx256_by1_bz1_srr(s_B_5, r_s, r_B_6, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_6, r_s, r_B_7, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_7, r_s, r_B_8, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_8, r_s, r_B_9, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_9, r_s, r_B_10, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_10, r_s, r_B_11, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_11, r_s, r_B_12, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrs(r_B_12, r_s, s_B_13, threadIdx.x);
    __syncthreads();  // the save of B#12 reads what other threads wrote to B#12 in smmul33
    save_block<2304, 256, true>(B_13 + (size_t)first * 9, s_B_13, here * 9, thread);
}

// smmul33, smmul33, smmul33, smmul33, smmul33, smmul33, smmul33, smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ B_13, const float *__restrict__ s, float *B_21)
{
    __shared__ __align__(16) float shared[2304];
    float *s_B_13 = shared;
    float r_s[1];
    float r_B_14[9];
    float r_B_15[9];
    float r_B_16[9];
    float r_B_17[9];
    float r_B_18[9];
    float r_B_19[9];
    float r_B_20[9];
    float *s_B_21 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_13, B_13 + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to B#12 in the load of B#12
    d_smmul33_1_compute_bx256_by1_bz1_srr(s_B_13, r_s, r_B_14, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_14, r_s, r_B_15, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_15, r_s, r_B_16, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_16, r_s, r_B_17, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_17, r_s, r_B_18, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_18, r_s, r_B_19, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_19, r_s, r_B_20, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrs(r_B_20, r_s, s_B_21, threadIdx.x);
    __syncthreads();  // the save of B#20 reads what other threads wrote to B#20 in smmul33
    save_block<2304, 256, true>(B_21 + (size_t)first * 9, s_B_21, here * 9, thread);
}

// smmul33, smmul33, smmul33, smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(
    int count, const float *__restrict__ B_22, const float *__restrict__ s, float *B_26)
{
    __shared__ __align__(16) float shared[2304];
    float *s_B_22 = shared;
    float r_s[1];
    float r_B_23[9];
    float r_B_24[9];
    float r_B_25[9];
    float *s_B_26 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_22, B_22 + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to B#21 in the load of B#21
    d_smmul33_1_compute_bx256_by1_bz1_srr(s_B_22, r_s, r_B_23, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_23, r_s, r_B_24, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrr(r_B_24, r_s, r_B_25, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_rrs(r_B_25, r_s, s_B_26, threadIdx.x);
    __syncthreads();  // the save of B#25 reads what other threads wrote to B#25 in smmul33
    save_block<2304, 256, true>(B_26 + (size_t)first * 9, s_B_26, here * 9, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(
    int count, const float *__restrict__ D_4, const float *__restrict__ C_2, float *D_5)
{
    __shared__ __align__(16) float shared[6912];
    float *s_D_4 = shared;
    float *s_C_2 = shared + 2304;
    float *s_D_5 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_D_4, D_4 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_C_2, C_2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to D#3 in the load of D#3
    d_madd33_1_compute_bx256_by1_bz1_sss(s_D_4, s_C_2, s_D_5, threadIdx.x);
    __syncthreads();  // the save of D#4 reads what other threads wrote to D#4 in madd33
    save_block<2304, 256, true>(D_5 + (size_t)first * 9, s_D_5, here * 9, thread);
}

// madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_7(
    int count, const float *__restrict__ D_7, const float *__restrict__ B, float *D)
{
    __shared__ __align__(16) float shared[4608];
    float *s_D_7 = shared;
    float *s_B = shared + 2304;
    float r_D_8[9];
    float r_D_9[9];
    float *s_D = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_D_7, D_7 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to D#6 in the load of D#6
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_D_7, s_B, r_D_8, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_D_8, s_B, r_D_9, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rss(r_D_9, s_B, s_D, threadIdx.x);
    __syncthreads();  // the save of D#9 reads what other threads wrote to D#9 in madd33
    save_block<2304, 256, true>(D + (size_t)first * 9, s_D, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *s, float *B_2, float *D_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, s, B_2, D_2);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *B_3, const float *A, float *C_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_3, A, C_2);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *B_5, const float *s, float *B_13, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_5, s, B_13);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *B_13, const float *s, float *B_21, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_13, s, B_21);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *B_22, const float *s, float *B_26, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_22, s, B_26);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *D_4, const float *C_2, float *D_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, D_4, C_2, D_5);
    return cudaGetLastError();
}

cudaError_t case_7_launch(int count, const float *D_7, const float *B, float *D, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_7<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, D_7, B, D);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 90 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *s, float *B, float *C, float *D, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_B_2 = workspace;
    float *d_D_2 = workspace + room * 9;
    float *d_B_3 = workspace + room * 18;
    float *d_D_3_even = workspace + room * 27;
    float *d_D_3_odd = workspace + room * 36;
    float *d_B_4 = workspace + room * 45;
    float *d_D_4 = workspace + room * 54;
    float *d_B_5_even = workspace + room * 63;
    float *d_B_5_odd = workspace + room * 72;
    float *d_B_13 = workspace + room * 81;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, s, d_B_2, d_D_2, stream);
    if (error != cudaSuccess) return error;
    const float *p_B_3 = d_B_2;
    const float *p_D_3 = d_D_2;
    for (int i1 = 0; i1 < 3; i1++) {
        float *n_B_3 = i1 % 2 == 0 ? B : d_B_3;
        float *n_D_3 = i1 % 2 == 0 ? d_D_3_even : d_D_3_odd;
        error = case_2_launch(count, p_B_3, A, C, stream);
        if (error != cudaSuccess) return error;
        const float *p_B_4 = p_B_3;
        const float *p_D_4 = p_D_3;
        for (int i2 = 0; i2 < 2; i2++) {
            float *n_B_4 = i2 % 2 == 0 ? d_B_4 : n_B_3;
            float *n_D_4 = i2 % 2 == 0 ? d_D_4 : n_D_3;
            const float *p_B_5 = p_B_4;
            for (int i3 = 0; i3 < 1; i3++) {
                float *n_B_5 = i3 % 2 == 0 ? d_B_5_even : d_B_5_odd;
                error = case_3_launch(count, p_B_5, s, d_B_13, stream);
                if (error != cudaSuccess) return error;
                error = case_4_launch(count, d_B_13, s, n_B_5, stream);
                if (error != cudaSuccess) return error;
                p_B_5 = n_B_5;
            }
            error = case_5_launch(count, p_B_5, s, n_B_4, stream);
            if (error != cudaSuccess) return error;
            error = case_6_launch(count, p_D_4, C, n_D_4, stream);
            if (error != cudaSuccess) return error;
            p_B_4 = n_B_4;
            p_D_4 = n_D_4;
        }
        p_B_3 = n_B_3;
        p_D_3 = n_D_3;
    }
    error = case_7_launch(count, p_D_3, B, D, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *s, float *B, float *C, float *D)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_s = nullptr;
    float *device_B = nullptr;
    float *device_C = nullptr;
    float *device_D = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_D, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_s, device_B, device_C, device_D, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(D, device_D, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_s);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_D);
    cudaFree(workspace);
    return error;
}
