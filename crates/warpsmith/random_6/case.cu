// case: 7 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_rrs(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[j] + B[j];
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

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by256_bz1_ss(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_svmul3_2_compute_bx3_by256_bz1_sss(float *v, float *s, float *w, int tx, int ty)
{
    w[ty * 3 + tx] = s[ty] * v[ty * 3 + tx];
}

static __device__ __forceinline__ void d_ttmul311_2_compute_bx3_by256_bz1_ssr(float *T, float *v, float *R, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += T[ty * 27 + tx * 9 + j * 3 + k] * v[ty * 3 + k];
        R[j] = sum;
    }
}

// mvmul33, ttmul311, mmul33, madd33, svmul3, mmul33, smimul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ in_m, const float *__restrict__ in_v, const float *__restrict__ in_3,
    const float *__restrict__ in_s, float *x1, float *x4, float *x5, float *x6)
{
    __shared__ __align__(16) float shared[11008];
    float *s_in_m = shared + 6912;
    float *s_in_v = shared + 9216;
    float *s_x0 = shared + 9984;
    float *s_x1 = shared;
    float *s_in_3 = shared;
    float r_x2[3];
    float *s_x3 = shared + 2304;
    float *s_in_s = shared + 10752;
    float *s_x4 = shared + 6912;
    float *s_x5 = shared + 4608;
    float *s_x6 = shared + 2304;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    load_block<6912, 768, true>(s_in_3, in_3 + (size_t)first * 27, here * 27, thread);
    load_block<256, 768, true>(s_in_s, in_s + (size_t)first * 1, here * 1, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to in_m in the load of in_m
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_in_m, s_in_v, s_x0, threadIdx.x, threadIdx.y);
    __syncthreads();  // ttmul311 reads what other threads wrote to x0 in mvmul33
    d_ttmul311_2_compute_bx3_by256_bz1_ssr(s_in_3, s_x0, r_x2, threadIdx.x, threadIdx.y);
    __syncthreads();  // mmul33 writes x1 where other threads touched in_3 in ttmul311
    d_mmul33_2_compute_bx3_by256_bz1_sss(s_in_m, s_in_m, s_x1, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_rrs(r_x2, r_x2, s_x3, threadIdx.x, threadIdx.y);
    __syncthreads();  // svmul3 writes x4 where other threads touched in_m in mmul33
    d_svmul3_2_compute_bx3_by256_bz1_sss(s_x0, s_in_s, s_x4, threadIdx.x, threadIdx.y);
    d_mmul33_2_compute_bx3_by256_bz1_sss(s_x3, s_x3, s_x5, threadIdx.x, threadIdx.y);
    __syncthreads();  // smimul33 writes x6 where other threads touched x3 in mmul33
    d_smimul33_2_compute_bx3_by256_bz1_ss(s_in_s, s_x6, threadIdx.x, threadIdx.y);
    save_block<2304, 768, true>(x1 + (size_t)first * 9, s_x1, here * 9, thread);
    save_block<768, 768, true>(x4 + (size_t)first * 3, s_x4, here * 3, thread);
    save_block<2304, 768, true>(x5 + (size_t)first * 9, s_x5, here * 9, thread);
    __syncthreads();  // the save of x6 reads what other threads wrote to x6 in smimul33
    save_block<2304, 768, true>(x6 + (size_t)first * 9, s_x6, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *in_m, const float *in_v, const float *in_3, const float *in_s, float *x1,
    float *x4, float *x5, float *x6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, in_v, in_3, in_s, x1, x4, x5, x6);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, const float *in_s, const float *in_3, float *x1,
    float *x4, float *x5, float *x6, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_v, in_3, in_s, x1, x4, x5, x6, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_v, const float *in_s, const float *in_3, float *x1,
    float *x4, float *x5, float *x6)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_in_3 = nullptr;
    float *device_x1 = nullptr;
    float *device_x4 = nullptr;
    float *device_x5 = nullptr;
    float *device_x6 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_3, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x1, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x4, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x6, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_3, in_3, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_in_s, device_in_3, device_x1, device_x4, device_x5, device_x6, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x1, device_x1, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x4, device_x4, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x6, device_x6, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_in_3);
    cudaFree(device_x1);
    cudaFree(device_x4);
    cudaFree(device_x5);
    cudaFree(device_x6);
    cudaFree(workspace);
    return error;
}
