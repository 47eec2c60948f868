// case: 5 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_sss(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[tx * 3 + i] = sum;
    }
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, const float *__restrict__ A, float *B_8)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A = shared;
    float *s_B_8 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A, s_A, s_B_8, threadIdx.x);
    __syncthreads();  // the save of B#8 reads what other threads wrote to B#8 in madd33
    save_block<2304, 256, true>(B_8 + (size_t)first * 9, s_B_8, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ B_9, const float *__restrict__ u, float *w)
{
    __shared__ __align__(16) float shared[3840];
    float *s_B_9 = shared;
    float *s_u = shared + 2304;
    float *s_w = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_9, B_9 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to B#9 in the load of B#9
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_B_9, s_u, s_w, threadIdx.x);
    __syncthreads();  // the save of w#4 reads what other threads wrote to w#4 in mvmul33
    save_block<768, 256, true>(w + (size_t)first * 3, s_w, here * 3, thread);
}

// madd33, madd33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ A, float *B_out, float *C, float *A_out)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A = shared;
    float *s_B_out = shared + 2304;
    float *s_C = shared;
    float *s_A_out = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A, s_A, s_B_out, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_sss(s_B_out, s_B_out, s_C, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_sss(s_B_out, s_B_out, s_A_out, threadIdx.x);
    __syncthreads();  // the save of B#12 reads what other threads wrote to B#12 in madd33
    save_block<2304, 256, true>(B_out + (size_t)first * 9, s_B_out, here * 9, thread);
    save_block<2304, 256, true>(C + (size_t)first * 9, s_C, here * 9, thread);
    save_block<2304, 256, true>(A_out + (size_t)first * 9, s_A_out, here * 9, thread);
}

cudaError_t case_1_launch(int count, const float *A, float *B_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, B_8);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *B_9, const float *u, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_9, u, w);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *A, float *B_out, float *C, float *A_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, B_out, C, A_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 9 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *w, float *B_out, float *C, float *A_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_B_8 = workspace;
    cudaError_t error = cudaSuccess;
    for (int i1 = 0; i1 < 2; i1++) {
        error = case_1_launch(count, A, d_B_8, stream);
        if (error != cudaSuccess) return error;
    }
    error = case_2_launch(count, d_B_8, u, w, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, A, B_out, C, A_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *w, float *B_out, float *C, float *A_out)
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
    float *device_w = nullptr;
    float *device_B_out = nullptr;
    float *device_C = nullptr;
    float *device_A_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_w, device_B_out, device_C, device_A_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_w);
    cudaFree(device_B_out);
    cudaFree(device_C);
    cudaFree(device_A_out);
    cudaFree(workspace);
    return error;
}
