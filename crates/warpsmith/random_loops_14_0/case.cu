// case: 9 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_srr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_srs(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[i];
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

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_rrr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_rrs(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[tx * 3 + i] = sum;
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

// mvmul33, madd33, mvmul33, madd33, mvmul33, madd33, svmul3, venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A_2, const float *__restrict__ v_2, const float *__restrict__ B,
    const float *__restrict__ r, float *v_5, float *A_5, float *u_5, float *s_5)
{
    __shared__ __align__(16) float shared[5376];
    float *s_A_2 = shared;
    float *s_v_2 = shared + 4608;
    float r_v_3[3];
    float *s_B = shared + 2304;
    float r_A_3[9];
    float r_v_4[3];
    float r_A_4[9];
    float *s_v_5 = shared + 4608;
    float *s_A_5 = shared;
    float r_r[1];
    float *s_u_5 = shared + 2304;
    float r_s_5[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_2, A_2 + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_v_2, v_2 + (size_t)first * 3, here * 3, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_r, r + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#2 in the load of A#2
    d_mvmul33_1_compute_bx256_by1_bz1_ssr(s_A_2, s_v_2, r_v_3, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_ssr(s_B, s_A_2, r_A_3, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_rrr(r_A_3, r_v_3, r_v_4, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_srr(s_B, r_A_3, r_A_4, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_rrs(r_A_4, r_v_4, s_v_5, threadIdx.x);
    d_madd33_1_compute_bx256_by1_bz1_srs(s_B, r_A_4, s_A_5, threadIdx.x);
    __syncthreads();  // svmul3 writes u#5 where other threads touched B in madd33
    d_svmul3_1_compute_bx256_by1_bz1_srs(s_v_5, r_r, s_u_5, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_u_5, r_s_5, threadIdx.x);
    save_block<768, 256, true>(v_5 + (size_t)first * 3, s_v_5, here * 3, thread);
    save_block<2304, 256, true>(A_5 + (size_t)first * 9, s_A_5, here * 9, thread);
    __syncthreads();  // the save of u#5 reads what other threads wrote to u#5 in svmul3
    save_block<768, 256, true>(u_5 + (size_t)first * 3, s_u_5, here * 3, thread);
    save_own<1>(s_5 + first + thread, r_s_5, 0, thread < here);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(int count, const float *__restrict__ B, float *A_out)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B = shared;
    float *s_A_out = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to B in the load of B
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_B, s_B, s_A_out, threadIdx.x);
    __syncthreads();  // the save of A#7 reads what other threads wrote to A#7 in mmul33
    save_block<2304, 256, true>(A_out + (size_t)first * 9, s_A_out, here * 9, thread);
}

cudaError_t case_1_launch(
    int count, const float *A_2, const float *v_2, const float *B, const float *r, float *v_5, float *A_5,
    float *u_5, float *s_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_2, v_2, B, r, v_5, A_5, u_5, s_5);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *B, float *A_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B, A_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 21 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *v_out, float *A_out, float *u_out, float *s_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_v_2 = workspace;
    float *d_A_2_even = workspace + room * 3;
    float *d_A_2_odd = workspace + room * 12;
    cudaError_t error = cudaSuccess;
    const float *p_v_2 = v;
    const float *p_A_2 = A;
    for (int i1 = 0; i1 < 2; i1++) {
        float *n_v_2 = i1 % 2 == 0 ? d_v_2 : v_out;
        float *n_A_2 = i1 % 2 == 0 ? d_A_2_even : d_A_2_odd;
        error = case_1_launch(count, p_A_2, p_v_2, B, r, n_v_2, n_A_2, u_out, s_out, stream);
        if (error != cudaSuccess) return error;
        p_v_2 = n_v_2;
        p_A_2 = n_A_2;
    }
    error = case_2_launch(count, B, A_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *v_out, float *A_out, float *u_out, float *s_out)
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
    float *device_A_out = nullptr;
    float *device_u_out = nullptr;
    float *device_s_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_v_out, device_A_out, device_u_out, device_s_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(u_out, device_u_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(s_out, device_s_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_v_out);
    cudaFree(device_A_out);
    cudaFree(device_u_out);
    cudaFree(device_s_out);
    cudaFree(workspace);
    return error;
}
