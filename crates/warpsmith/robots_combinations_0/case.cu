// case: 4 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#include <math.h>

#include "case.h"

/* element types of the robotics library */
#ifndef ROBO_TYPES_CUH
#define ROBO_TYPES_CUH
typedef float *real;      // warpsmith: elements 1
typedef float *vec2;      // warpsmith: elements 2
typedef float *vec3;      // warpsmith: elements 3
typedef float* vec4;      // warpsmith: elements 4
typedef float *quat;      // warpsmith: elements 4
typedef float *vec7;      // warpsmith: elements 7
typedef float *sym3;      // warpsmith: elements 6
typedef float *mat2;      // warpsmith: elements 4
typedef float *mat4;      // warpsmith: elements 16
typedef float *mat8;      // warpsmith: elements 64
typedef float *vec20;     // warpsmith: elements 20
typedef float *mat20;     // warpsmith: elements 400
#endif

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

#ifndef MATHX_CUH
#define MATHX_CUH
#define SQ(x) ((x) * (x))
struct two { float a, b; };
template <int N>
__device__ __host__ inline float dotn(const float *a, const float *b)
{
    float s = 0.0f;
    for (int k = 0; k < N; k++) s += a[k] * b[k];
    return s;
}
#endif

static __device__ __forceinline__ void d_axpby7_1_compute_bx256_by1_bz1_rsrsr(float *a, float *x, float *b, float *y, float *r, int tx)
{
    #pragma unroll
    for (int i = 0; i < 7; i++) r[0 + i] = a[0] * x[(tx * 7) + i] + b[0] * y[(tx * 7) + i];
}

static __device__ __forceinline__ void d_axpby7_1_compute_bx256_by1_bz1_rrrrr(float *a, float *x, float *b, float *y, float *r, int tx)
{
    #pragma unroll
    for (int i = 0; i < 7; i++) r[0 + i] = a[0] * x[0 + i] + b[0] * y[0 + i];
}

static __device__ __forceinline__ void d_axpby7_1_compute_bx256_by1_bz1_rsrrs(float *a, float *x, float *b, float *y, float *r, int tx)
{
    #pragma unroll
    for (int i = 0; i < 7; i++) r[(tx * 7) + i] = a[0] * x[(tx * 7) + i] + b[0] * y[0 + i];
}

static __device__ __forceinline__ void d_norm7_1_compute_bx256_by1_bz1_rr(float *x, float *n, int tx)
{
    n[0] = sqrtf(dotn<7>(x + 0, x + 0));
}

// axpby7, axpby7, norm7, axpby7: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ a, const float *__restrict__ x, const float *__restrict__ b,
    const float *__restrict__ y, float *n, float *x_out)
{
    __shared__ __align__(16) float shared[3584];
    float r_a[1];
    float *s_x = shared;
    float r_b[1];
    float *s_y = shared + 1792;
    float r_z[7];
    float r_z_2[7];
    float r_n[1];
    float *s_x_out = shared + 1792;
    const int thread = threadIdx.x;
    for (int step = 0; step < 4; step++) {
        const int block = blockIdx.x * 4 + step;
        if (block * 256 >= count) break;
        const int first = block * 256;
        const int here = min(count - first, 256);

        load_own<1>(r_a, a + first + min(thread, here - 1), 0);
        load_block<1792, 256, true>(s_x, x + (size_t)first * 7, here * 7, thread);
        load_own<1>(r_b, b + first + min(thread, here - 1), 0);
        __syncthreads();  // the load of y writes y where other threads touched x#2 in the save of x#2
        load_block<1792, 256, true>(s_y, y + (size_t)first * 7, here * 7, thread);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // axpby7 reads what other threads wrote to x in the load of x
        d_axpby7_1_compute_bx256_by1_bz1_rsrsr(r_a, s_x, r_b, s_y, r_z, threadIdx.x);
        d_axpby7_1_compute_bx256_by1_bz1_rrrrr(r_a, r_z, r_a, r_z, r_z_2, threadIdx.x);
        d_norm7_1_compute_bx256_by1_bz1_rr(r_z_2, r_n, threadIdx.x);
        d_axpby7_1_compute_bx256_by1_bz1_rsrrs(r_n, s_x, r_n, r_z_2, s_x_out, threadIdx.x);
        save_own<1>(n + first + thread, r_n, 0, thread < here);
        __syncthreads();  // the save of x#2 reads what other threads wrote to x#2 in axpby7
        save_block<1792, 256, true>(x_out + (size_t)first * 7, s_x_out, here * 7, thread);
    }
}

cudaError_t case_1_launch(
    int count, const float *a, const float *x, const float *b, const float *y, float *n, float *x_out,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 1024 + 1, block, 0, stream>>>(count, a, x, b, y, n, x_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *a, const float *b, const float *x, const float *y, float *x_out, float *n,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, x, b, y, n, x_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *a, const float *b, const float *x, const float *y, float *x_out, float *n)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_x = nullptr;
    float *device_y = nullptr;
    float *device_x_out = nullptr;
    float *device_n = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_y, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x_out, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_n, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_b, b, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_y, y, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, device_x, device_y, device_x_out, device_n, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x_out, device_x_out, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(n, device_n, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(device_x_out);
    cudaFree(device_n);
    cudaFree(workspace);
    return error;
}
