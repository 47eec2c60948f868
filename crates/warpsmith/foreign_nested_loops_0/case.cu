// case: 10 calls of elementary functions in 3 kernels.
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

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_ssr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_srr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_srs(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[k];
        w[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_smimul33_1_compute_bx256_by1_bz1_rs(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = i % 4 == 0 ? s[0] : 0.0f;
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_rrr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_srs(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[0] * v[tx * 3 + i];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

// mvmul33, venorm3, svmul3, mvmul33, venorm3, svmul3, mvmul33, venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ v_2, float *v_7, float *s_6)
{
    __shared__ __align__(16) float shared[3072];
    float *s_A = shared;
    float *s_v_2 = shared + 2304;
    float r_v_3[3];
    float r_s_2[1];
    float r_v_4[3];
    float r_v_5[3];
    float r_s_4[1];
    float r_v_6[3];
    float *s_v_7 = shared + 2304;
    float r_s_6[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_2, v_2 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A in the load of A
    d_mvmul33_1_compute_bx256_by1_bz1_ssr(s_A, s_v_2, r_v_3, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_rr(r_v_3, r_s_2, threadIdx.x);
    d_svmul3_1_compute_bx256_by1_bz1_rrr(r_v_3, r_s_2, r_v_4, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_srr(s_A, r_v_4, r_v_5, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_rr(r_v_5, r_s_4, threadIdx.x);
    d_svmul3_1_compute_bx256_by1_bz1_rrr(r_v_5, r_s_4, r_v_6, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_srs(s_A, r_v_6, s_v_7, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_v_7, r_s_6, threadIdx.x);
    __syncthreads();  // the save of v#7 reads what other threads wrote to v#7 in mvmul33
    save_block<768, 256, true>(v_7 + (size_t)first * 3, s_v_7, here * 3, thread);
    save_own<1>(s_6 + first + thread, r_s_6, 0, thread < here);
}

// svmul3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ v_7, const float *__restrict__ s_6, float *v_8)
{
    __shared__ __align__(16) float shared[1536];
    float *s_v_7 = shared;
    float r_s_6[1];
    float *s_v_8 = shared + 768;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v_7, v_7 + (size_t)first * 3, here * 3, thread);
    load_own<1>(r_s_6, s_6 + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // svmul3 reads what other threads wrote to v#7 in the load of v#7
    d_svmul3_1_compute_bx256_by1_bz1_srs(s_v_7, r_s_6, s_v_8, threadIdx.x);
    __syncthreads();  // the save of v#8 reads what other threads wrote to v#8 in svmul3
    save_block<768, 256, true>(v_8 + (size_t)first * 3, s_v_8, here * 3, thread);
}

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(int count, const float *__restrict__ s_7, float *B)
{
    __shared__ __align__(16) float shared[2304];
    float r_s_7[1];
    float *s_B = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<1>(r_s_7, s_7 + first + min(thread, here - 1), 0);
    d_smimul33_1_compute_bx256_by1_bz1_rs(r_s_7, s_B, threadIdx.x);
    __syncthreads();  // the save of B reads what other threads wrote to B in smimul33
    save_block<2304, 256, true>(B + (size_t)first * 9, s_B, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *v_2, float *v_7, float *s_6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, v_2, v_7, s_6);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *v_7, const float *s_6, float *v_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v_7, s_6, v_8);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *s_7, float *B, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, s_7, B);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 7 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *v, float *v_out, float *B, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_v_2 = workspace;
    float *d_v_7 = workspace + room * 3;
    float *d_s_6 = workspace + room * 6;
    cudaError_t error = cudaSuccess;
    const float *p_v_2 = v;
    for (int i1 = 0; i1 < 10; i1++) {
        float *n_v_2 = i1 % 2 == 0 ? d_v_2 : v_out;
        error = case_1_launch(count, A, p_v_2, d_v_7, d_s_6, stream);
        if (error != cudaSuccess) return error;
        error = case_2_launch(count, d_v_7, d_s_6, n_v_2, stream);
        if (error != cudaSuccess) return error;
        p_v_2 = n_v_2;
    }
    error = case_3_launch(count, d_s_6, B, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *v, float *v_out, float *B)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_v = nullptr;
    float *device_v_out = nullptr;
    float *device_B = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_v, device_v_out, device_B, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(B, device_B, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_v);
    cudaFree(device_v_out);
    cudaFree(device_B);
    cudaFree(workspace);
    return error;
}
