// stvenantinner: 7 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#include "stvenantinner.h"

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

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by256_bz1_sss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smimul33_2_compute_bx3_by256_bz1_sr(float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = j == tx ? s[ty] : 0.0f;
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by256_bz1_rsr(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[j] = s[ty] * A[j];
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

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_sss(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[tx] = fabsf(sum);
}

// ttmul311, mvmul33, vvmulabs3, smimul33, smmul33, smmul33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) stvenantinner_1(
    int count, const float *__restrict__ R, const float *__restrict__ dPsi, const float *__restrict__ S,
    const float *__restrict__ dPhi, const float *__restrict__ w, float *result)
{
    __shared__ __align__(16) float shared[11008];
    float *s_R = shared;
    float *s_dPsi = shared + 9216;
    float r_a[3];
    float *s_S = shared + 6912;
    float *s_dPhi = shared + 9984;
    float *s_h = shared;
    float *s_s = shared + 768;
    float *s_w = shared + 10752;
    float r_wI[3];
    float r_swI[3];
    float r_wa[3];
    float *s_result = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<6912, 768, true>(s_R, R + (size_t)first * 27, here * 27, thread);
    load_block<768, 768, true>(s_dPsi, dPsi + (size_t)first * 3, here * 3, thread);
    load_block<2304, 768, true>(s_S, S + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_dPhi, dPhi + (size_t)first * 3, here * 3, thread);
    load_block<256, 768, true>(s_w, w + (size_t)first * 1, here * 1, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // ttmul311 reads what other threads wrote to R in the load of R
    d_ttmul311_2_compute_bx3_by256_bz1_ssr(s_R, s_dPsi, r_a, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes h where other threads touched R in ttmul311
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_S, s_dPhi, s_h, threadIdx.x, threadIdx.y);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to h in mvmul33
    if (thread < 256) d_vvmulabs3_1_compute_bx256_by1_bz1_sss(s_h, s_dPsi, s_s, thread);
    d_smimul33_2_compute_bx3_by256_bz1_sr(s_w, r_wI, threadIdx.x, threadIdx.y);
    __syncthreads();  // smmul33 reads what other threads wrote to s in vvmulabs3
    d_smmul33_2_compute_bx3_by256_bz1_rsr(r_wI, s_s, r_swI, threadIdx.x, threadIdx.y);
    d_smmul33_2_compute_bx3_by256_bz1_rsr(r_a, s_w, r_wa, threadIdx.x, threadIdx.y);
    __syncthreads();  // madd33 writes result where other threads touched s in smmul33
    d_madd33_2_compute_bx3_by256_bz1_rrs(r_swI, r_wa, s_result, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of result reads what other threads wrote to result in madd33
    save_block<2304, 768, true>(result + (size_t)first * 9, s_result, here * 9, thread);
}

cudaError_t stvenantinner_1_launch(
    int count, const float *R, const float *dPsi, const float *S, const float *dPhi, const float *w,
    float *result, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    stvenantinner_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, R, dPsi, S, dPhi, w, result);
    return cudaGetLastError();
}

size_t stvenantinner_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t stvenantinner_launch(
    int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w,
    float *result, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = stvenantinner_1_launch(count, R, dPsi, S, dPhi, w, result, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t stvenantinner_host(
    int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w,
    float *result)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = stvenantinner_workspace(count);
    float *device_R = nullptr;
    float *device_dPsi = nullptr;
    float *device_dPhi = nullptr;
    float *device_S = nullptr;
    float *device_w = nullptr;
    float *device_result = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_R, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_dPsi, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_dPhi, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_S, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_result, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_R, R, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_dPsi, dPsi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_dPhi, dPhi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_S, S, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = stvenantinner_launch(count, device_R, device_dPsi, device_dPhi, device_S, device_w, device_result, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(result, device_result, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_R);
    cudaFree(device_dPsi);
    cudaFree(device_dPhi);
    cudaFree(device_S);
    cudaFree(device_w);
    cudaFree(device_result);
    cudaFree(workspace);
    return error;
}
