// case: 13 calls of elementary functions in 7 kernels.
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

static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_rss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[tx * 9 + i * 3 + j] = sum;
        }
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
static __global__ void __launch_bounds__(256) case_1(int count, const float *__restrict__ A, float *B)
{
    __shared__ __align__(16) float shared[4608];
    float *s_A = shared;
    float *s_B = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_1_compute_bx256_by1_bz1_sss(s_A, s_A, s_B, threadIdx.x);
    __syncthreads();  // the save of B reads what other threads wrote to B in madd33
    save_block<2304, 256, true>(B + (size_t)first * 9, s_B, here * 9, thread);
}

// mmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ B_2, const float *__restrict__ A, float *B_4)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_2 = shared;
    float *s_A = shared + 2304;
    float r_B_3[9];
    float *s_B_4 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_2, B_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B#2 in the load of B#2
    d_mmul33_1_compute_bx256_by1_bz1_ssr(s_B_2, s_A, r_B_3, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rss(r_B_3, s_A, s_B_4, threadIdx.x);
    __syncthreads();  // the save of B#4 reads what other threads wrote to B#4 in mmul33
    save_block<2304, 256, true>(B_4 + (size_t)first * 9, s_B_4, here * 9, thread);
}

// mmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ B_4, const float *__restrict__ A, float *B_6)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_4 = shared;
    float *s_A = shared + 2304;
    float r_B_5[9];
    float *s_B_6 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_4, B_4 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B#4 in the load of B#4
    d_mmul33_1_compute_bx256_by1_bz1_ssr(s_B_4, s_A, r_B_5, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rss(r_B_5, s_A, s_B_6, threadIdx.x);
    __syncthreads();  // the save of B#6 reads what other threads wrote to B#6 in mmul33
    save_block<2304, 256, true>(B_6 + (size_t)first * 9, s_B_6, here * 9, thread);
}

// mmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ B_6, const float *__restrict__ A, float *B_8)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_6 = shared;
    float *s_A = shared + 2304;
    float r_B_7[9];
    float *s_B_8 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_6, B_6 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B#6 in the load of B#6
    d_mmul33_1_compute_bx256_by1_bz1_ssr(s_B_6, s_A, r_B_7, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rss(r_B_7, s_A, s_B_8, threadIdx.x);
    __syncthreads();  // the save of B#8 reads what other threads wrote to B#8 in mmul33
    save_block<2304, 256, true>(B_8 + (size_t)first * 9, s_B_8, here * 9, thread);
}

// mmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(
    int count, const float *__restrict__ B_8, const float *__restrict__ A, float *B_10)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_8 = shared;
    float *s_A = shared + 2304;
    float r_B_9[9];
    float *s_B_10 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_8, B_8 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B#8 in the load of B#8
    d_mmul33_1_compute_bx256_by1_bz1_ssr(s_B_8, s_A, r_B_9, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rss(r_B_9, s_A, s_B_10, threadIdx.x);
    __syncthreads();  // the save of B#10 reads what other threads wrote to B#10 in mmul33
    save_block<2304, 256, true>(B_10 + (size_t)first * 9, s_B_10, here * 9, thread);
}

// mmul33, mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(
    int count, const float *__restrict__ B_10, const float *__restrict__ A, float *B_12)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_10 = shared;
    float *s_A = shared + 2304;
    float r_B_11[9];
    float *s_B_12 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_10, B_10 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B#10 in the load of B#10
    d_mmul33_1_compute_bx256_by1_bz1_ssr(s_B_10, s_A, r_B_11, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rss(r_B_11, s_A, s_B_12, threadIdx.x);
    __syncthreads();  // the save of B#12 reads what other threads wrote to B#12 in mmul33
    save_block<2304, 256, true>(B_12 + (size_t)first * 9, s_B_12, here * 9, thread);
}

// madd33, mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_7(
    int count, const float *__restrict__ B_13, const float *__restrict__ A, const float *__restrict__ v,
    float *C, float *w)
{
    __shared__ __align__(16) float shared[7680];
    float *s_B_13 = shared;
    float *s_A = shared + 2304;
    float *s_C = shared + 4608;
    float *s_v = shared + 6912;
    float *s_w = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_13, B_13 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B#13 in the load of B#13
    d_madd33_1_compute_bx256_by1_bz1_sss(s_B_13, s_A, s_C, threadIdx.x);
    __syncthreads();  // mvmul33 writes w where other threads touched B#13 in madd33
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_C, s_v, s_w, threadIdx.x);
    save_block<2304, 256, true>(C + (size_t)first * 9, s_C, here * 9, thread);
    __syncthreads();  // the save of w reads what other threads wrote to w in mvmul33
    save_block<768, 256, true>(w + (size_t)first * 3, s_w, here * 3, thread);
}

cudaError_t case_1_launch(int count, const float *A, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, B);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *B_2, const float *A, float *B_4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_2, A, B_4);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *B_4, const float *A, float *B_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_4, A, B_6);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *B_6, const float *A, float *B_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_6, A, B_8);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *B_8, const float *A, float *B_10, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_8, A, B_10);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *B_10, const float *A, float *B_12, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_10, A, B_12);
    return cudaGetLastError();
}

cudaError_t case_7_launch(
    int count, const float *B_13, const float *A, const float *v, float *C, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_7<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_13, A, v, C, w);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 63 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *v, float *w, float *C, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_B = workspace;
    float *d_B_2_even = workspace + room * 9;
    float *d_B_2_odd = workspace + room * 18;
    float *d_B_4 = workspace + room * 27;
    float *d_B_6 = workspace + room * 36;
    float *d_B_8 = workspace + room * 45;
    float *d_B_10 = workspace + room * 54;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, d_B, stream);
    if (error != cudaSuccess) return error;
    const float *p_B_2 = d_B;
    for (int i1 = 0; i1 < 4; i1++) {
        float *n_B_2 = i1 % 2 == 0 ? d_B_2_even : d_B_2_odd;
        error = case_2_launch(count, p_B_2, A, d_B_4, stream);
        if (error != cudaSuccess) return error;
        error = case_3_launch(count, d_B_4, A, d_B_6, stream);
        if (error != cudaSuccess) return error;
        error = case_4_launch(count, d_B_6, A, d_B_8, stream);
        if (error != cudaSuccess) return error;
        error = case_5_launch(count, d_B_8, A, d_B_10, stream);
        if (error != cudaSuccess) return error;
        error = case_6_launch(count, d_B_10, A, n_B_2, stream);
        if (error != cudaSuccess) return error;
        p_B_2 = n_B_2;
    }
    error = case_7_launch(count, p_B_2, A, v, C, w, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *v, float *w, float *C)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_v = nullptr;
    float *device_w = nullptr;
    float *device_C = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_v, device_w, device_C, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_v);
    cudaFree(device_w);
    cudaFree(device_C);
    cudaFree(workspace);
    return error;
}
