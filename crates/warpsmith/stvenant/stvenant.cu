// stvenant: 4 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "stvenant.h"

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

static __device__ __forceinline__ void d_mvmul33_1_compute_bx64_by1_bz1_ssr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx64_by1_bz1_rrs(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[0] * v[i];
}

static __device__ __forceinline__ void d_ttmul3212_1_compute_bx64_by1_bz1_rss(float *T, float *M, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++)
        #pragma unroll
        for (int k = 0; k < 3; k++) {
            float sum = 0.0f;
            #pragma unroll
            for (int l = 0; l < 3; l++) sum += T[i * 3 + l] * M[tx * 9 + k * 3 + l];
            R[tx * 27 + i * 3 + k] = sum;
        }
}

static __device__ __forceinline__ void d_ttmul411_1_compute_bx64_by1_bz1_ssr(float *T, float *v, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 27; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[tx * 81 + i * 3 + l] * v[tx * 3 + l];
        R[i] = sum;
    }
}

// mvmul33, svmul3, ttmul411, ttmul3212: 64 elements a block.
static __global__ void __launch_bounds__(64) stvenant_1(
    int count, const float *__restrict__ H, const float *__restrict__ dPhi, const float *__restrict__ w,
    const float *__restrict__ T4, const float *__restrict__ F, float *v, float *R)
{
    __shared__ __align__(16) float shared[6528];
    float *s_H = shared + 5184;
    float *s_dPhi = shared + 6336;
    float r_Hd[3];
    float r_w[1];
    float *s_v = shared + 5184;
    float *s_T4 = shared;
    float r_R3[27];
    float *s_F = shared + 5760;
    float *s_R = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 64;
    const int here = min(count - first, 64);

    load_block<576, 64, true>(s_H, H + (size_t)first * 9, here * 9, thread);
    load_block<192, 64, true>(s_dPhi, dPhi + (size_t)first * 3, here * 3, thread);
    load_own<1>(r_w, w + first + min(thread, here - 1), 0);
    load_block<5184, 64, true>(s_T4, T4 + (size_t)first * 81, here * 81, thread);
    load_block<576, 64, true>(s_F, F + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to H in the load of H
    d_mvmul33_1_compute_bx64_by1_bz1_ssr(s_H, s_dPhi, r_Hd, threadIdx.x);
    __syncthreads();  // svmul3 writes v where other threads touched H in mvmul33
    d_svmul3_1_compute_bx64_by1_bz1_rrs(r_Hd, r_w, s_v, threadIdx.x);
    d_ttmul411_1_compute_bx64_by1_bz1_ssr(s_T4, s_v, r_R3, threadIdx.x);
    __syncthreads();  // ttmul3212 writes R where other threads touched T4 in ttmul411
    d_ttmul3212_1_compute_bx64_by1_bz1_rss(r_R3, s_F, s_R, threadIdx.x);
    save_block<192, 64, true>(v + (size_t)first * 3, s_v, here * 3, thread);
    __syncthreads();  // the save of R reads what other threads wrote to R in ttmul3212
    save_block<1728, 64, true>(R + (size_t)first * 27, s_R, here * 27, thread);
}

cudaError_t stvenant_1_launch(
    int count, const float *H, const float *dPhi, const float *w, const float *T4, const float *F, float *v,
    float *R, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    stvenant_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, H, dPhi, w, T4, F, v, R);
    return cudaGetLastError();
}

size_t stvenant_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t stvenant_launch(
    int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R,
    float *v, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = stvenant_1_launch(count, H, dPhi, w, T4, F, v, R, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t stvenant_host(
    int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R,
    float *v)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = stvenant_workspace(count);
    float *device_T4 = nullptr;
    float *device_F = nullptr;
    float *device_dPhi = nullptr;
    float *device_H = nullptr;
    float *device_w = nullptr;
    float *device_R = nullptr;
    float *device_v = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_T4, room * 81 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_F, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_dPhi, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_H, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_R, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_T4, T4, (size_t)count * 81 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_F, F, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_dPhi, dPhi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_H, H, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = stvenant_launch(count, device_T4, device_F, device_dPhi, device_H, device_w, device_R, device_v, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(R, device_R, (size_t)count * 27 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(v, device_v, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_T4);
    cudaFree(device_F);
    cudaFree(device_dPhi);
    cudaFree(device_H);
    cudaFree(device_w);
    cudaFree(device_R);
    cudaFree(device_v);
    cudaFree(workspace);
    return error;
}
