// bigfusion: 5 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "bigfusion.h"

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

static __device__ __forceinline__ void d_mmul33_1_compute_bx128_by1_bz1_ssr(float *A, float *B, float *C, int tx)
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

static __device__ __forceinline__ void d_mmul55_1_compute_bx128_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 5; i++)
        #pragma unroll
        for (int j = 0; j < 5; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 5; k++) sum += A[tx * 25 + i * 5 + k] * B[tx * 25 + k * 5 + j];
            C[i * 5 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx128_by1_bz1_rsr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[tx * 3 + k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_smmul55_1_compute_bx128_by1_bz1_rrs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 25; i++) C[tx * 25 + i] = s[0] * A[i];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx128_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

// mmul33, mvmul33, venorm3, mmul55, smmul55: 128 elements a block.
static __global__ void __launch_bounds__(128) bigfusion_1(
    int count, const float *__restrict__ A, const float *__restrict__ B, const float *__restrict__ c,
    const float *__restrict__ D, const float *__restrict__ E, float *F)
{
    __shared__ __align__(16) float shared[9088];
    float *s_A = shared + 6400;
    float *s_B = shared + 7552;
    float r_AB[9];
    float *s_c = shared + 8704;
    float r_v[3];
    float r_s[1];
    float *s_D = shared;
    float *s_E = shared + 3200;
    float r_DE[25];
    float *s_F = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 128;
    const int here = min(count - first, 128);

    load_block<1152, 128, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<1152, 128, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    load_block<384, 128, true>(s_c, c + (size_t)first * 3, here * 3, thread);
    load_block<3200, 128, true>(s_D, D + (size_t)first * 25, here * 25, thread);
    load_block<3200, 128, true>(s_E, E + (size_t)first * 25, here * 25, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A in the load of A
    d_mmul33_1_compute_bx128_by1_bz1_ssr(s_A, s_B, r_AB, threadIdx.x);
    d_mvmul33_1_compute_bx128_by1_bz1_rsr(r_AB, s_c, r_v, threadIdx.x);
    d_venorm3_1_compute_bx128_by1_bz1_rr(r_v, r_s, threadIdx.x);
    d_mmul55_1_compute_bx128_by1_bz1_ssr(s_D, s_E, r_DE, threadIdx.x);
    d_smmul55_1_compute_bx128_by1_bz1_rrs(r_DE, r_s, s_F, threadIdx.x);
    __syncthreads();  // the save of F reads what other threads wrote to F in smmul55
    save_block<3200, 128, true>(F + (size_t)first * 25, s_F, here * 25, thread);
}

cudaError_t bigfusion_1_launch(
    int count, const float *A, const float *B, const float *c, const float *D, const float *E, float *F,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(128, 1, 1);
    bigfusion_1<<<(count - 1) / 128 + 1, block, 0, stream>>>(count, A, B, c, D, E, F);
    return cudaGetLastError();
}

size_t bigfusion_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t bigfusion_launch(
    int count, const float *A, const float *B, const float *c, const float *D, const float *E, float *F,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = bigfusion_1_launch(count, A, B, c, D, E, F, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t bigfusion_host(
    int count, const float *A, const float *B, const float *c, const float *D, const float *E, float *F)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = bigfusion_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_c = nullptr;
    float *device_D = nullptr;
    float *device_E = nullptr;
    float *device_F = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_c, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_D, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_E, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_F, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_c, c, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_D, D, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_E, E, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = bigfusion_launch(count, device_A, device_B, device_c, device_D, device_E, device_F, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(F, device_F, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_c);
    cudaFree(device_D);
    cudaFree(device_E);
    cudaFree(device_F);
    cudaFree(workspace);
    return error;
}
