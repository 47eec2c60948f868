// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

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

namespace act16 {

__device__ __forceinline__ float softplus(float x) { return x > 10.0f ? x : log1pf(expf(x)); }

static __device__ __forceinline__ void d_act16_2_compute_bx2_by96_bz1_ss(float *m, float *r, int tx, int ty)
{
    for (int k = 0; k < 8; k++) r[ty * 16 + tx * 8 + k] = softplus(m[ty * 16 + tx * 8 + k]);
}

}

#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]

static __device__ __forceinline__ void d_mul4_1_compute_bx96_by1_bz1_sss(float *a, float *b, float *c, int tx)
{
    a += tx * 16;
    b += tx * 16;
    c += tx * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            AT(c, i, j) = AT(a, i, 0) * AT(b, 0, j) + AT(a, i, 1) * AT(b, 1, j) + AT(a, i, 2) * AT(b, 2, j) + AT(a, i, 3) * AT(b, 3, j);
}

#undef N4
#undef AT
// mul4, mul4, act16: 96 elements a block.
static __global__ void __launch_bounds__(192) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ B, float *D, float *C)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A = shared;
    float *s_B = shared + 1536;
    float *s_C_2 = shared + 3072;
    float *s_D = shared;
    float *s_C = shared + 1536;
    const int thread = threadIdx.x + 2 * threadIdx.y;
    const int first = blockIdx.x * 96;
    const int here = min(count - first, 96);

    load_block<1536, 192, true>(s_A, A + (size_t)first * 16, here * 16, thread);
    load_block<1536, 192, true>(s_B, B + (size_t)first * 16, here * 16, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mul4 reads what other threads wrote to A in the load of A
    if (thread < 96) d_mul4_1_compute_bx96_by1_bz1_sss(s_A, s_B, s_C_2, thread);
    if (thread < 96) d_mul4_1_compute_bx96_by1_bz1_sss(s_C_2, s_C_2, s_D, thread);
    __syncthreads();  // act16 writes C#2 where other threads touched B in mul4
    act16::d_act16_2_compute_bx2_by96_bz1_ss(s_D, s_C, threadIdx.x, threadIdx.y);
    save_block<1536, 192, true>(D + (size_t)first * 16, s_D, here * 16, thread);
    __syncthreads();  // the save of C#2 reads what other threads wrote to C#2 in act16
    save_block<1536, 192, true>(C + (size_t)first * 16, s_C, here * 16, thread);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *D, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(2, 96, 1);
    case_1<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, A, B, D, C);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *C, float *D, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, D, C, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *C, float *D)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_C = nullptr;
    float *device_D = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_D, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_C, device_D, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(D, device_D, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_D);
    cudaFree(workspace);
    return error;
}
