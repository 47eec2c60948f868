// case: 8 calls of elementary functions in 8 kernels.
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

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_srs(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[0] * v[tx * 3 + i];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ B, float *A_2)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A = shared;
    float *s_B = shared + 2304;
    float *s_A_2 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A in the load of A
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_A, s_B, s_A_2, threadIdx.x);
    __syncthreads();  // the save of A#2 reads what other threads wrote to A#2 in mmul33
    save_block<2304, 256, true>(A_2 + (size_t)first * 9, s_A_2, here * 9, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ A_2, const float *__restrict__ B, float *A_3)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_2 = shared;
    float *s_B = shared + 2304;
    float *s_A_3 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_2, A_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A#2 in the load of A#2
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_A_2, s_B, s_A_3, threadIdx.x);
    __syncthreads();  // the save of A#3 reads what other threads wrote to A#3 in mmul33
    save_block<2304, 256, true>(A_3 + (size_t)first * 9, s_A_3, here * 9, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ A_3, const float *__restrict__ B, float *A_4)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_3 = shared;
    float *s_B = shared + 2304;
    float *s_A_4 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_3, A_3 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A#3 in the load of A#3
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_A_3, s_B, s_A_4, threadIdx.x);
    __syncthreads();  // the save of A#4 reads what other threads wrote to A#4 in mmul33
    save_block<2304, 256, true>(A_4 + (size_t)first * 9, s_A_4, here * 9, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ A_4, const float *__restrict__ B, float *A_5)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_4 = shared;
    float *s_B = shared + 2304;
    float *s_A_5 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_4, A_4 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A#4 in the load of A#4
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_A_4, s_B, s_A_5, threadIdx.x);
    __syncthreads();  // the save of A#5 reads what other threads wrote to A#5 in mmul33
    save_block<2304, 256, true>(A_5 + (size_t)first * 9, s_A_5, here * 9, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(
    int count, const float *__restrict__ A_5, const float *__restrict__ B, float *A_6)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_5 = shared;
    float *s_B = shared + 2304;
    float *s_A_6 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_5, A_5 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A#5 in the load of A#5
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_A_5, s_B, s_A_6, threadIdx.x);
    __syncthreads();  // the save of A#6 reads what other threads wrote to A#6 in mmul33
    save_block<2304, 256, true>(A_6 + (size_t)first * 9, s_A_6, here * 9, thread);
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(int count, const float *__restrict__ u, float *r_out)
{
    __shared__ __align__(16) float shared[768];
    float *s_u = shared;
    float r_r_out[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to u in the load of u
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_u, r_r_out, threadIdx.x);
    save_own<1>(r_out + first + thread, r_r_out, 0, thread < here);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_7(
    int count, const float *__restrict__ A_6, const float *__restrict__ B, float *A_out)
{
    __shared__ __align__(16) float shared[6912];
    float *s_A_6 = shared;
    float *s_B = shared + 2304;
    float *s_A_out = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_6, A_6 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to A#6 in the load of A#6
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_A_6, s_B, s_A_out, threadIdx.x);
    __syncthreads();  // the save of A#7 reads what other threads wrote to A#7 in mmul33
    save_block<2304, 256, true>(A_out + (size_t)first * 9, s_A_out, here * 9, thread);
}

// svmul3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_8(
    int count, const float *__restrict__ v, const float *__restrict__ r_out, float *w)
{
    __shared__ __align__(16) float shared[1536];
    float *s_v = shared;
    float r_r_out[1];
    float *s_w = shared + 768;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    load_own<1>(r_r_out, r_out + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // svmul3 reads what other threads wrote to v in the load of v
    d_svmul3_1_compute_bx256_by1_bz1_srs(s_v, r_r_out, s_w, threadIdx.x);
    __syncthreads();  // the save of w reads what other threads wrote to w in svmul3
    save_block<768, 256, true>(w + (size_t)first * 3, s_w, here * 3, thread);
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *A_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, B, A_2);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *A_2, const float *B, float *A_3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_2, B, A_3);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *A_3, const float *B, float *A_4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_3, B, A_4);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *A_4, const float *B, float *A_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_4, B, A_5);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *A_5, const float *B, float *A_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_5, B, A_6);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *u, float *r_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, u, r_out);
    return cudaGetLastError();
}

cudaError_t case_7_launch(int count, const float *A_6, const float *B, float *A_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_7<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_6, B, A_out);
    return cudaGetLastError();
}

cudaError_t case_8_launch(int count, const float *v, const float *r_out, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_8<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, r_out, w);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 45 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *r_out, float *A_out, float *w, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_A_2 = workspace;
    float *d_A_3 = workspace + room * 9;
    float *d_A_4 = workspace + room * 18;
    float *d_A_5 = workspace + room * 27;
    float *d_A_6 = workspace + room * 36;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, d_A_2, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, d_A_2, B, d_A_3, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, d_A_3, B, d_A_4, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, d_A_4, B, d_A_5, stream);
    if (error != cudaSuccess) return error;
    error = case_5_launch(count, d_A_5, B, d_A_6, stream);
    if (error != cudaSuccess) return error;
    error = case_6_launch(count, u, r_out, stream);
    if (error != cudaSuccess) return error;
    error = case_7_launch(count, d_A_6, B, A_out, stream);
    if (error != cudaSuccess) return error;
    error = case_8_launch(count, v, r_out, w, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *r_out, float *A_out, float *w)
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
    float *device_r_out = nullptr;
    float *device_A_out = nullptr;
    float *device_w = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_r_out, device_A_out, device_w, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(r_out, device_r_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_r_out);
    cudaFree(device_A_out);
    cudaFree(device_w);
    cudaFree(workspace);
    return error;
}
