// case: 7 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by32_bz1_sss(float *A, float *v, float *w, int tx, int ty)
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

static __device__ __forceinline__ void d_venorm3_1_compute_bx32_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

// mmul33, mvmul33, mmul33, mvmul33, mvmul33, venorm3: 32 elements a block.
static __global__ void __launch_bounds__(96) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ B_2, const float *__restrict__ u_2,
    float *v_4, float *B_4, float *u_4, float *r_8)
{
    __shared__ __align__(16) float shared[960];
    float *s_A = shared;
    float *s_B_2 = shared + 288;
    float *s_B_3 = shared + 672;
    float *s_u_2 = shared + 576;
    float *s_u_3 = shared + 288;
    float *s_v_4 = shared + 672;
    float *s_B_4 = shared + 384;
    float *s_u_4 = shared;
    float r_r_8[1];
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 32;
    const int here = min(count - first, 32);

    load_block<288, 96, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<288, 96, true>(s_B_2, B_2 + (size_t)first * 9, here * 9, thread);
    load_block<96, 96, true>(s_u_2, u_2 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A in the load of A
    d_mmul33_2_compute_bx3_by32_bz1_sss(s_A, s_B_2, s_B_3, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes u#3 where other threads touched B#2 in mmul33
    d_mvmul33_2_compute_bx3_by32_bz1_sss(s_B_3, s_u_2, s_u_3, threadIdx.x, threadIdx.y);
    __syncthreads();  // mmul33 writes B#4 where other threads touched u#2 in mvmul33
    d_mmul33_2_compute_bx3_by32_bz1_sss(s_A, s_B_3, s_B_4, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes v#4 where other threads touched B#3 in mmul33
    d_mvmul33_2_compute_bx3_by32_bz1_sss(s_A, s_u_3, s_v_4, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes u#4 where other threads touched A in mvmul33
    d_mvmul33_2_compute_bx3_by32_bz1_sss(s_B_4, s_u_3, s_u_4, threadIdx.x, threadIdx.y);
    __syncthreads();  // venorm3 reads what other threads wrote to u#4 in mvmul33
    if (thread < 32) d_venorm3_1_compute_bx32_by1_bz1_sr(s_u_4, r_r_8, thread);
    save_block<96, 96, true>(v_4 + (size_t)first * 3, s_v_4, here * 3, thread);
    save_block<288, 96, true>(B_4 + (size_t)first * 9, s_B_4, here * 9, thread);
    save_block<96, 96, true>(u_4 + (size_t)first * 3, s_u_4, here * 3, thread);
    save_own<1>(r_8 + first + thread, r_r_8, 0, thread < here);
}

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_2(int count, const float *__restrict__ s, float *B_out)
{
    __shared__ __align__(16) float shared[2560];
    float *s_s = shared + 2304;
    float *s_B_out = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<256, 768, true>(s_s, s + (size_t)first * 1, here * 1, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smimul33 reads what other threads wrote to s in the load of s
    d_smimul33_2_compute_bx3_by256_bz1_ss(s_s, s_B_out, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#6 reads what other threads wrote to B#6 in smimul33
    save_block<2304, 768, true>(B_out + (size_t)first * 9, s_B_out, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *B_2, const float *u_2, float *v_4, float *B_4, float *u_4,
    float *r_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 32, 1);
    case_1<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, A, B_2, u_2, v_4, B_4, u_4, r_8);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *s, float *B_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, s, B_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 21 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *v_out, float *B_out, float *u_out, float *r_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_B_2_even = workspace;
    float *d_B_2_odd = workspace + room * 9;
    float *d_u_2 = workspace + room * 18;
    cudaError_t error = cudaSuccess;
    const float *p_B_2 = B;
    const float *p_u_2 = u;
    for (int i1 = 0; i1 < 2; i1++) {
        float *n_B_2 = i1 % 2 == 0 ? d_B_2_even : d_B_2_odd;
        float *n_u_2 = i1 % 2 == 0 ? d_u_2 : u_out;
        error = case_1_launch(count, A, p_B_2, p_u_2, v_out, n_B_2, n_u_2, r_out, stream);
        if (error != cudaSuccess) return error;
        p_B_2 = n_B_2;
        p_u_2 = n_u_2;
    }
    error = case_2_launch(count, s, B_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *v_out, float *B_out, float *u_out, float *r_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_u = nullptr;
    float *device_v = nullptr;
    float *device_r = nullptr;
    float *device_s = nullptr;
    float *device_v_out = nullptr;
    float *device_B_out = nullptr;
    float *device_u_out = nullptr;
    float *device_r_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_v_out, device_B_out, device_u_out, device_r_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(u_out, device_u_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(r_out, device_r_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_v_out);
    cudaFree(device_B_out);
    cudaFree(device_u_out);
    cudaFree(device_r_out);
    cudaFree(workspace);
    return error;
}
