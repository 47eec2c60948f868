// case: 12 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_rrs(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[j] + B[j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by96_bz1_rrr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[j] + B[j];
}

static __device__ __forceinline__ void d_madd55_2_compute_bx5_by96_bz1_sss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++)
        C[ty * 25 + tx * 5 + j] = A[ty * 25 + tx * 5 + j] + B[ty * 25 + tx * 5 + j];
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by256_bz1_rsr(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[k] * v[ty * 3 + k];
    w[0] = sum;
}

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by96_bz1_sr(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by256_bz1_ssr(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by96_bz1_rss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[j];
}

static __device__ __forceinline__ void d_smmul55_2_compute_bx5_by96_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 5; j++) C[ty * 25 + tx * 5 + j] = s[ty] * A[ty * 25 + tx * 5 + j];
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by256_bz1_rss(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[0];
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by96_bz1_sss(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// smmul33, vvmulabs3, madd33, mvmul33, svmul3: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ in_m, const float *__restrict__ in_s, const float *__restrict__ in_v,
    float *x2, float *x5, float *x11)
{
    __shared__ __align__(16) float shared[3328];
    float *s_in_m = shared;
    float *s_in_s = shared + 3072;
    float r_x1[3];
    float *s_in_v = shared + 2304;
    float r_x2[1];
    float *s_x5 = shared;
    float r_x7[1];
    float *s_x11 = shared + 2304;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_block<256, 768, true>(s_in_s, in_s + (size_t)first * 1, here * 1, thread);
    load_block<768, 768, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to in_m in the load of in_m
    d_smmul33_2_compute_bx3_by256_bz1_ssr(s_in_m, s_in_s, r_x1, threadIdx.x, threadIdx.y);
    if (thread < 256) d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x2, thread);
    d_madd33_2_compute_bx3_by256_bz1_rrs(r_x1, r_x1, s_x5, threadIdx.x, threadIdx.y);
    d_mvmul33_2_compute_bx3_by256_bz1_rsr(r_x1, s_in_v, r_x7, threadIdx.x, threadIdx.y);
    __syncthreads();  // svmul3 writes x11 where other threads touched in_v in vvmulabs3
    d_svmul3_2_compute_bx3_by256_bz1_rss(r_x7, s_in_s, s_x11, threadIdx.x, threadIdx.y);
    save_own<1>(x2 + first + thread, r_x2, 0, thread < here);
    save_block<2304, 768, true>(x5 + (size_t)first * 9, s_x5, here * 9, thread);
    __syncthreads();  // the save of x11 reads what other threads wrote to x11 in svmul3
    save_block<768, 768, true>(x11 + (size_t)first * 3, s_x11, here * 3, thread);
}

// madd55, smmul55, svmul3, smimul33, smimul33, madd33, smmul33: 96 elements a block.
static __global__ void __launch_bounds__(480) case_2(
    int count, const float *__restrict__ in_M, const float *__restrict__ x2, const float *__restrict__ in_v,
    float *x0, float *x3, float *x4, float *x10)
{
    __shared__ __align__(16) float shared[7584];
    float *s_in_M = shared;
    float *s_x0 = shared + 2400;
    float *s_x2 = shared + 7488;
    float *s_x3 = shared + 4800;
    float *s_in_v = shared + 7200;
    float *s_x4 = shared + 864;
    float r_x6[3];
    float r_x8[3];
    float r_x9[3];
    float *s_x10 = shared;
    const int thread = threadIdx.x + 5 * threadIdx.y;
    const int first = blockIdx.x * 96;
    const int here = min(count - first, 96);

    load_block<2400, 480, true>(s_in_M, in_M + (size_t)first * 25, here * 25, thread);
    load_block<96, 480, true>(s_x2, x2 + (size_t)first * 1, here * 1, thread);
    load_block<288, 480, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd55 reads what other threads wrote to in_M in the load of in_M
    d_madd55_2_compute_bx5_by96_bz1_sss(s_in_M, s_in_M, s_x0, threadIdx.x, threadIdx.y);
    d_smmul55_2_compute_bx5_by96_bz1_sss(s_in_M, s_x2, s_x3, threadIdx.x, threadIdx.y);
    __syncthreads();  // svmul3 writes x4 where other threads touched in_M in madd55
    if (thread < 288) d_svmul3_2_compute_bx3_by96_bz1_sss(s_in_v, s_x2, s_x4, thread % 3, thread / 3);
    if (thread < 288) d_smimul33_2_compute_bx3_by96_bz1_sr(s_x2, r_x6, thread % 3, thread / 3);
    if (thread < 288) d_smimul33_2_compute_bx3_by96_bz1_sr(s_x2, r_x8, thread % 3, thread / 3);
    if (thread < 288) d_madd33_2_compute_bx3_by96_bz1_rrr(r_x8, r_x6, r_x9, thread % 3, thread / 3);
    if (thread < 288) d_smmul33_2_compute_bx3_by96_bz1_rss(r_x9, s_x2, s_x10, thread % 3, thread / 3);
    save_block<2400, 480, true>(x0 + (size_t)first * 25, s_x0, here * 25, thread);
    save_block<2400, 480, true>(x3 + (size_t)first * 25, s_x3, here * 25, thread);
    __syncthreads();  // the save of x4 reads what other threads wrote to x4 in svmul3
    save_block<288, 480, true>(x4 + (size_t)first * 3, s_x4, here * 3, thread);
    save_block<864, 480, true>(x10 + (size_t)first * 9, s_x10, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *in_m, const float *in_s, const float *in_v, float *x2, float *x5, float *x11,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, in_s, in_v, x2, x5, x11);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *in_M, const float *x2, const float *in_v, float *x0, float *x3, float *x4,
    float *x10, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(5, 96, 1);
    case_2<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, in_M, x2, in_v, x0, x3, x4, x10);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 1 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, float *x0,
    float *x3, float *x4, float *x5, float *x10, float *x11, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_x2 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_s, in_v, d_x2, x5, x11, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_M, d_x2, in_v, x0, x3, x4, x10, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, float *x0,
    float *x3, float *x4, float *x5, float *x10, float *x11)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_M = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_x0 = nullptr;
    float *device_x3 = nullptr;
    float *device_x4 = nullptr;
    float *device_x5 = nullptr;
    float *device_x10 = nullptr;
    float *device_x11 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x3, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x4, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x10, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x11, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_M, device_in_v, device_in_s, device_x0, device_x3, device_x4, device_x5, device_x10, device_x11, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x3, device_x3, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x4, device_x4, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x10, device_x10, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x11, device_x11, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x0);
    cudaFree(device_x3);
    cudaFree(device_x4);
    cudaFree(device_x5);
    cudaFree(device_x10);
    cudaFree(device_x11);
    cudaFree(workspace);
    return error;
}
