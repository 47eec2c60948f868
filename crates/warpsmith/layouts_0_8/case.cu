// case: 15 calls of elementary functions in 5 kernels.
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

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_rrr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_rsr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_rsr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_rsr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[tx * 3 + k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_smmul55_1_compute_bx256_by1_bz1_srr(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 25; i++) C[i] = s[0] * A[tx * 25 + i];
}

static __device__ __forceinline__ void d_ttmul3212_1_compute_bx256_by1_bz1_rrr(float *T, float *M, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++)
        #pragma unroll
        for (int k = 0; k < 3; k++) {
            float sum = 0.0f;
            #pragma unroll
            for (int l = 0; l < 3; l++) sum += T[i * 3 + l] * M[k * 3 + l];
            R[i * 3 + k] = sum;
        }
}

// mmul33, mvmul33, ttmul3212: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ D, const float *__restrict__ v,
    const float *__restrict__ T, float *B_2, float *w, float *U)
{
    __shared__ __align__(16) float shared[3072];
    float r_A[9];
    float *s_D = shared;
    float r_B_2[9];
    float *s_v = shared + 2304;
    float r_w[3];
    float r_T[27];
    float r_U[27];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_A, A + first + min(thread, here - 1), count);
    load_block<2304, 256, true>(s_D, D + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    load_own<27>(r_T, T + first + min(thread, here - 1), count);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to D in the load of D
    d_mmul33_1_compute_bx256_by1_bz1_rsr(r_A, s_D, r_B_2, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_rsr(r_B_2, s_v, r_w, threadIdx.x);
    d_ttmul3212_1_compute_bx256_by1_bz1_rrr(r_T, r_B_2, r_U, threadIdx.x);
    save_own<9>(B_2 + first + thread, r_B_2, count, thread < here);
    save_own<3>(w + first + thread, r_w, count, thread < here);
    save_own<27>(U + first + thread, r_U, count, thread < here);
}

// smmul55: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ E, const float *__restrict__ s, float *F)
{
    __shared__ __align__(16) float shared[6400];
    float *s_E = shared;
    float r_s[1];
    float r_F[25];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<6400, 256, true>(s_E, E + (size_t)first * 25, here * 25, thread);
    load_own<1>(r_s, s + first + min(thread, here - 1), count);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul55 reads what other threads wrote to E in the load of E
    d_smmul55_1_compute_bx256_by1_bz1_srr(s_E, r_s, r_F, threadIdx.x);
    save_own<25>(F + first + thread, r_F, count, thread < here);
}

// madd33, madd33, madd33, madd33, madd33, madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ B_3, const float *__restrict__ A, float *B_11)
{
    float r_B_3[9];
    float r_A[9];
    float r_B_4[9];
    float r_B_5[9];
    float r_B_6[9];
    float r_B_7[9];
    float r_B_8[9];
    float r_B_9[9];
    float r_B_10[9];
    float r_B_11[9];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_B_3, B_3 + first + min(thread, here - 1), count);
    load_own<9>(r_A, A + first + min(thread, here - 1), count);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_3, r_A, r_B_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_4, r_A, r_B_5, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_5, r_A, r_B_6, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_6, r_A, r_B_7, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_7, r_A, r_B_8, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_8, r_A, r_B_9, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_9, r_A, r_B_10, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_10, r_A, r_B_11, threadIdx.x);
    save_own<9>(B_11 + first + thread, r_B_11, count, thread < here);
}

// madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ B_11, const float *__restrict__ A, float *B_13)
{
    float r_B_11[9];
    float r_A[9];
    float r_B_12[9];
    float r_B_13[9];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_B_11, B_11 + first + min(thread, here - 1), count);
    load_own<9>(r_A, A + first + min(thread, here - 1), count);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_11, r_A, r_B_12, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_rrr(r_B_12, r_A, r_B_13, threadIdx.x);
    save_own<9>(B_13 + first + thread, r_B_13, count, thread < here);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(
    int count, const float *__restrict__ B, const float *__restrict__ D, float *C)
{
    __shared__ __align__(16) float shared[2304];
    float r_B[9];
    float *s_D = shared;
    float r_C[9];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_B, B + first + min(thread, here - 1), count);
    load_block<2304, 256, true>(s_D, D + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to D in the load of D
    d_madd33_1_compute_bx256_by1_bz1_rsr(r_B, s_D, r_C, threadIdx.x);
    save_own<9>(C + first + thread, r_C, count, thread < here);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *D, const float *v, const float *T, float *B_2, float *w, float *U,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, D, v, T, B_2, w, U);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *E, const float *s, float *F, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, E, s, F);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *B_3, const float *A, float *B_11, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_3, A, B_11);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *B_11, const float *A, float *B_13, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_11, A, B_13);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *B, const float *D, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B, D, C);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 27 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *T, const float *v, const float *D, const float *E, const float *s,
    float *B, float *C, float *w, float *U, float *F, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_B_2 = workspace;
    float *d_B_3 = workspace + room * 9;
    float *d_B_11 = workspace + room * 18;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, D, v, T, d_B_2, w, U, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, E, s, F, stream);
    if (error != cudaSuccess) return error;
    const float *p_B_3 = d_B_2;
    for (int i1 = 0; i1 < 4; i1++) {
        float *n_B_3 = i1 % 2 == 0 ? d_B_3 : B;
        error = case_3_launch(count, p_B_3, A, d_B_11, stream);
        if (error != cudaSuccess) return error;
        error = case_4_launch(count, d_B_11, A, n_B_3, stream);
        if (error != cudaSuccess) return error;
        p_B_3 = n_B_3;
    }
    error = case_5_launch(count, B, D, C, stream);
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
