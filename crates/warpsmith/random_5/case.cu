// case: 6 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_rrr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_rrs(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[k * 3 + j];
            C[tx * 9 + i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_rss(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[tx * 3 + k];
        w[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_smimul33_1_compute_bx256_by1_bz1_rr(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = i % 4 == 0 ? s[0] : 0.0f;
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// vvmulabs3, mmul33, smimul33, mvmul33, mmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ in_v, const float *__restrict__ in_m, float *x0, float *x3,
    float *x5)
{
    __shared__ __align__(16) float shared[3072];
    float *s_in_v = shared + 2304;
    float r_x0[1];
    float *s_in_m = shared;
    float r_x1[9];
    float r_x2[9];
    float *s_x3 = shared;
    float r_x4[9];
    float *s_x5 = shared + 768;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    load_block<2304, 256, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to in_v in the load of in_v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x0, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_ssr(s_in_m, s_in_m, r_x1, threadIdx.x);
    d_smimul33_1_compute_bx256_by1_bz1_rr(r_x0, r_x2, threadIdx.x);
    __syncthreads();  // mvmul33 writes x3 where other threads touched in_m in mmul33
    d_mvmul33_1_compute_bx256_by1_bz1_rss(r_x2, s_in_v, s_x3, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rrr(r_x2, r_x1, r_x4, threadIdx.x);
    __syncthreads();  // mmul33 writes x5 where other threads touched in_v in mvmul33
    d_mmul33_1_compute_bx256_by1_bz1_rrs(r_x4, r_x2, s_x5, threadIdx.x);
    save_own<1>(x0 + first + thread, r_x0, 0, thread < here);
    save_block<768, 256, true>(x3 + (size_t)first * 3, s_x3, here * 3, thread);
    __syncthreads();  // the save of x5 reads what other threads wrote to x5 in mmul33
    save_block<2304, 256, true>(x5 + (size_t)first * 9, s_x5, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *in_v, const float *in_m, float *x0, float *x3, float *x5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, in_m, x0, x3, x5);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, float *x3, float *x5, float *x0, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_v, in_m, x0, x3, x5, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *in_m, const float *in_v, float *x3, float *x5, float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_x3 = nullptr;
    float *device_x5 = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x3, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_x3, device_x5, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x3, device_x3, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_x3);
    cudaFree(device_x5);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
