// case: 11 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_madd55_1_compute_bx128_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 25; i++) C[tx * 25 + i] = A[tx * 25 + i] + B[tx * 25 + i];
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

static __device__ __forceinline__ void d_svmul3_1_compute_bx96_by1_bz1_srs(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[0] * v[tx * 3 + i];
}

static __device__ __forceinline__ void d_ttmul411_1_compute_bx96_by1_bz1_sss(float *T, float *v, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 27; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int l = 0; l < 3; l++) sum += T[tx * 81 + i * 3 + l] * v[tx * 3 + l];
        R[tx * 27 + i] = sum;
    }
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx96_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

// svmul3, venorm3, venorm3, venorm3, venorm3, venorm3, venorm3, ttmul411: 96 elements a block.
static __global__ void __launch_bounds__(96) case_1(
    int count, const float *__restrict__ in_v, const float *__restrict__ in_s, const float *__restrict__ in_4,
    float *x0, float *x1, float *x2, float *x5, float *x6, float *x8, float *x9, float *x10)
{
    __shared__ __align__(16) float shared[10656];
    float *s_in_v = shared + 7776;
    float r_in_s[1];
    float *s_x0 = shared + 10368;
    float r_x1[1];
    float r_x2[1];
    float r_x5[1];
    float r_x6[1];
    float r_x8[1];
    float r_x9[1];
    float *s_in_4 = shared;
    float *s_x10 = shared + 7776;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 96;
    const int here = min(count - first, 96);

    load_block<288, 96, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    load_own<1>(r_in_s, in_s + first + min(thread, here - 1), 0);
    load_block<7776, 96, true>(s_in_4, in_4 + (size_t)first * 81, here * 81, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // svmul3 reads what other threads wrote to in_v in the load of in_v
    d_svmul3_1_compute_bx96_by1_bz1_srs(s_in_v, r_in_s, s_x0, threadIdx.x);
    d_venorm3_1_compute_bx96_by1_bz1_sr(s_x0, r_x1, threadIdx.x);
    d_venorm3_1_compute_bx96_by1_bz1_sr(s_x0, r_x2, threadIdx.x);
    d_venorm3_1_compute_bx96_by1_bz1_sr(s_x0, r_x5, threadIdx.x);
    d_venorm3_1_compute_bx96_by1_bz1_sr(s_x0, r_x6, threadIdx.x);
    d_venorm3_1_compute_bx96_by1_bz1_sr(s_x0, r_x8, threadIdx.x);
    d_venorm3_1_compute_bx96_by1_bz1_sr(s_x0, r_x9, threadIdx.x);
    __syncthreads();  // ttmul411 writes x10 where other threads touched in_v in svmul3
    d_ttmul411_1_compute_bx96_by1_bz1_sss(s_in_4, s_x0, s_x10, threadIdx.x);
    save_block<288, 96, true>(x0 + (size_t)first * 3, s_x0, here * 3, thread);
    save_own<1>(x1 + first + thread, r_x1, 0, thread < here);
    save_own<1>(x2 + first + thread, r_x2, 0, thread < here);
    save_own<1>(x5 + first + thread, r_x5, 0, thread < here);
    save_own<1>(x6 + first + thread, r_x6, 0, thread < here);
    save_own<1>(x8 + first + thread, r_x8, 0, thread < here);
    save_own<1>(x9 + first + thread, r_x9, 0, thread < here);
    __syncthreads();  // the save of x10 reads what other threads wrote to x10 in ttmul411
    save_block<2592, 96, true>(x10 + (size_t)first * 27, s_x10, here * 27, thread);
}

// mmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ in_m, float *x3, float *x4)
{
    __shared__ __align__(16) float shared[6912];
    float *s_in_m = shared;
    float *s_x3 = shared + 2304;
    float *s_x4 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to in_m in the load of in_m
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_in_m, s_in_m, s_x3, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_in_m, s_in_m, s_x4, threadIdx.x);
    __syncthreads();  // the save of x3 reads what other threads wrote to x3 in mmul33
    save_block<2304, 256, true>(x3 + (size_t)first * 9, s_x3, here * 9, thread);
    save_block<2304, 256, true>(x4 + (size_t)first * 9, s_x4, here * 9, thread);
}

// madd55: 128 elements a block.
static __global__ void __launch_bounds__(128) case_3(int count, const float *__restrict__ in_M, float *x7)
{
    __shared__ __align__(16) float shared[6400];
    float *s_in_M = shared;
    float *s_x7 = shared + 3200;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 128;
    const int here = min(count - first, 128);

    load_block<3200, 128, true>(s_in_M, in_M + (size_t)first * 25, here * 25, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd55 reads what other threads wrote to in_M in the load of in_M
    d_madd55_1_compute_bx128_by1_bz1_sss(s_in_M, s_in_M, s_x7, threadIdx.x);
    __syncthreads();  // the save of x7 reads what other threads wrote to x7 in madd55
    save_block<3200, 128, true>(x7 + (size_t)first * 25, s_x7, here * 25, thread);
}

cudaError_t case_1_launch(
    int count, const float *in_v, const float *in_s, const float *in_4, float *x0, float *x1, float *x2,
    float *x5, float *x6, float *x8, float *x9, float *x10, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(96, 1, 1);
    case_1<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, in_v, in_s, in_4, x0, x1, x2, x5, x6, x8, x9, x10);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *in_m, float *x3, float *x4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, x3, x4);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *in_M, float *x7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(128, 1, 1);
    case_3<<<(count - 1) / 128 + 1, block, 0, stream>>>(count, in_M, x7);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, const float *in_4,
    float *x1, float *x2, float *x3, float *x4, float *x5, float *x6, float *x7, float *x8, float *x9,
    float *x10, float *x0, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_v, in_s, in_4, x0, x1, x2, x5, x6, x8, x9, x10, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_m, x3, x4, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, in_M, x7, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, const float *in_4,
    float *x1, float *x2, float *x3, float *x4, float *x5, float *x6, float *x7, float *x8, float *x9,
    float *x10, float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_M = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_in_4 = nullptr;
    float *device_x1 = nullptr;
    float *device_x2 = nullptr;
    float *device_x3 = nullptr;
    float *device_x4 = nullptr;
    float *device_x5 = nullptr;
    float *device_x6 = nullptr;
    float *device_x7 = nullptr;
    float *device_x8 = nullptr;
    float *device_x9 = nullptr;
    float *device_x10 = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_4, room * 81 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x1, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x2, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x3, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x4, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x6, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x7, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x8, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x9, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x10, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_4, in_4, (size_t)count * 81 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_M, device_in_v, device_in_s, device_in_4, device_x1, device_x2, device_x3, device_x4, device_x5, device_x6, device_x7, device_x8, device_x9, device_x10, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x1, device_x1, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x2, device_x2, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x3, device_x3, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x4, device_x4, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x6, device_x6, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x7, device_x7, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x8, device_x8, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x9, device_x9, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x10, device_x10, (size_t)count * 27 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_in_4);
    cudaFree(device_x1);
    cudaFree(device_x2);
    cudaFree(device_x3);
    cudaFree(device_x4);
    cudaFree(device_x5);
    cudaFree(device_x6);
    cudaFree(device_x7);
    cudaFree(device_x8);
    cudaFree(device_x9);
    cudaFree(device_x10);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
