// case: 10 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_mmul33_2_compute_bx3_by32_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * B[ty * 9 + k * 3 + j];
        C[ty * 9 + tx * 3 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mmul55_2_compute_bx5_by96_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 5; k++) sum += A[ty * 25 + tx * 5 + k] * B[ty * 25 + k * 5 + j];
        C[ty * 25 + tx * 5 + j] = sum;
    }
}

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by32_bz1_ss(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by32_bz1_sr(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by32_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by32_bz1_rss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[j];
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by32_bz1_sss(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[ty * 3 + tx];
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

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// mmul55: 96 elements a block.
static __global__ void __launch_bounds__(480) case_1(int count, const float *__restrict__ in_M, float *x0)
{
    __shared__ __align__(16) float shared[4800];
    float *s_in_M = shared;
    float *s_x0 = shared + 2400;
    const int thread = threadIdx.x + 5 * threadIdx.y;
    const int first = blockIdx.x * 96;
    const int here = min(count - first, 96);

    load_block<2400, 480, true>(s_in_M, in_M + (size_t)first * 25, here * 25, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul55 reads what other threads wrote to in_M in the load of in_M
    d_mmul55_2_compute_bx5_by96_bz1_sss(s_in_M, s_in_M, s_x0, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of x0 reads what other threads wrote to x0 in mmul55
    save_block<2400, 480, true>(x0 + (size_t)first * 25, s_x0, here * 25, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(int count, const float *__restrict__ in_v, float *x1)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x1[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to in_v in the load of in_v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x1, threadIdx.x);
    save_own<1>(x1 + first + thread, r_x1, 0, thread < here);
}

// svmul3, smmul33, mmul33, ttmul3212, smimul33, smimul33, smimul33, smmul33: 32 elements a block.
static __global__ void __launch_bounds__(288) case_3(
    int count, const float *__restrict__ in_v, const float *__restrict__ x1, const float *__restrict__ in_m,
    const float *__restrict__ in_3, float *x2, float *x5, float *x6, float *x8, float *x9)
{
    __shared__ __align__(16) float shared[2144];
    float *s_in_v = shared + 1152;
    float *s_x1 = shared + 2112;
    float *s_x2 = shared + 2016;
    float *s_in_m = shared + 864;
    float *s_x3 = shared + 1152;
    float *s_x4 = shared + 1728;
    float *s_x5 = shared;
    float *s_in_3 = shared;
    float *s_x6 = shared + 864;
    float r_x7[3];
    float *s_x8 = shared + 288;
    float *s_x9 = shared + 576;
    const int thread = threadIdx.x + 9 * threadIdx.y;
    const int first = blockIdx.x * 32;
    const int here = min(count - first, 32);

    load_block<96, 288, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    load_block<32, 288, true>(s_x1, x1 + (size_t)first * 1, here * 1, thread);
    load_block<288, 288, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_block<864, 288, true>(s_in_3, in_3 + (size_t)first * 27, here * 27, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // svmul3 reads what other threads wrote to in_v in the load of in_v
    if (thread < 96) d_svmul3_2_compute_bx3_by32_bz1_sss(s_in_v, s_x1, s_x2, thread % 3, thread / 3);
    __syncthreads();  // smmul33 writes x3 where other threads touched in_v in svmul3
    if (thread < 96) d_smmul33_2_compute_bx3_by32_bz1_sss(s_in_m, s_x1, s_x3, thread % 3, thread / 3);
    __syncthreads();  // mmul33 reads what other threads wrote to x3 in smmul33
    if (thread < 96) d_mmul33_2_compute_bx3_by32_bz1_sss(s_x3, s_x3, s_x4, thread % 3, thread / 3);
    __syncthreads();  // ttmul3212 writes x6 where other threads touched x3 in mmul33
    d_ttmul3212_2_compute_bx9_by32_bz1_sss(s_in_3, s_x4, s_x6, threadIdx.x, threadIdx.y);
    __syncthreads();  // smimul33 writes x5 where other threads touched in_3 in ttmul3212
    if (thread < 96) d_smimul33_2_compute_bx3_by32_bz1_ss(s_x1, s_x5, thread % 3, thread / 3);
    if (thread < 96) d_smimul33_2_compute_bx3_by32_bz1_sr(s_x1, r_x7, thread % 3, thread / 3);
    if (thread < 96) d_smimul33_2_compute_bx3_by32_bz1_ss(s_x1, s_x8, thread % 3, thread / 3);
    if (thread < 96) d_smmul33_2_compute_bx3_by32_bz1_rss(r_x7, s_x1, s_x9, thread % 3, thread / 3);
    save_block<96, 288, true>(x2 + (size_t)first * 3, s_x2, here * 3, thread);
    __syncthreads();  // the save of x5 reads what other threads wrote to x5 in smimul33
    save_block<288, 288, true>(x5 + (size_t)first * 9, s_x5, here * 9, thread);
    save_block<864, 288, true>(x6 + (size_t)first * 27, s_x6, here * 27, thread);
    save_block<288, 288, true>(x8 + (size_t)first * 9, s_x8, here * 9, thread);
    save_block<288, 288, true>(x9 + (size_t)first * 9, s_x9, here * 9, thread);
}

cudaError_t case_1_launch(int count, const float *in_M, float *x0, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(5, 96, 1);
    case_1<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, in_M, x0);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *in_v, float *x1, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x1);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *in_v, const float *x1, const float *in_m, const float *in_3, float *x2, float *x5,
    float *x6, float *x8, float *x9, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(9, 32, 1);
    case_3<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, in_v, x1, in_m, in_3, x2, x5, x6, x8, x9);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 1 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_3, float *x0,
    float *x2, float *x5, float *x6, float *x8, float *x9, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_x1 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_M, x0, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_v, d_x1, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, in_v, d_x1, in_m, in_3, x2, x5, x6, x8, x9, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_3, float *x0,
    float *x2, float *x5, float *x6, float *x8, float *x9)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_M = nullptr;
    float *device_in_v = nullptr;
    float *device_in_3 = nullptr;
    float *device_x0 = nullptr;
    float *device_x2 = nullptr;
    float *device_x5 = nullptr;
    float *device_x6 = nullptr;
    float *device_x8 = nullptr;
    float *device_x9 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_3, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x2, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x6, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x8, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x9, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_3, in_3, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_M, device_in_v, device_in_3, device_x0, device_x2, device_x5, device_x6, device_x8, device_x9, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x2, device_x2, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x6, device_x6, (size_t)count * 27 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x8, device_x8, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x9, device_x9, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_3);
    cudaFree(device_x0);
    cudaFree(device_x2);
    cudaFree(device_x5);
    cudaFree(device_x6);
    cudaFree(device_x8);
    cudaFree(device_x9);
    cudaFree(workspace);
    return error;
}
