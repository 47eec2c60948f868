// case: 5 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_srs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[tx * 9 + i];
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_srr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[tx * 3 + i];
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_rsr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// svmul3, vvmulabs3, mvmul33, smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ u_2, const float *__restrict__ s_2, const float *__restrict__ A_2,
    const float *__restrict__ B, float *s_3, float *u_3, float *A_3)
{
    __shared__ __align__(16) float shared[5376];
    float *s_u_2 = shared + 4608;
    float r_s_2[1];
    float r_v_10[3];
    float r_s_3[1];
    float *s_A_2 = shared;
    float *s_u_3 = shared + 4608;
    float *s_B = shared + 2304;
    float *s_A_3 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_u_2, u_2 + (size_t)first * 3, here * 3, thread);
    load_own<1>(r_s_2, s_2 + first + min(thread, here - 1), 0);
    load_block<2304, 256, true>(s_A_2, A_2 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // svmul3 reads what other threads wrote to u#2 in the load of u#2
    d_svmul3_1_compute_bx256_by1_bz1_srr(s_u_2, r_s_2, r_v_10, threadIdx.x);
    d_vvmulabs3_1_compute_bx256_by1_bz1_rsr(r_v_10, s_u_2, r_s_3, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_srs(s_A_2, r_v_10, s_u_3, threadIdx.x);
    d_smmul33_1_compute_bx256_by1_bz1_srs(s_B, r_s_3, s_A_3, threadIdx.x);
    save_own<1>(s_3 + first + thread, r_s_3, 0, thread < here);
    __syncthreads();  // the save of u#3 reads what other threads wrote to u#3 in mvmul33
    save_block<768, 256, true>(u_3 + (size_t)first * 3, s_u_3, here * 3, thread);
    save_block<2304, 256, true>(A_3 + (size_t)first * 9, s_A_3, here * 9, thread);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ A_out, const float *__restrict__ u_out, float *v_out)
{
    __shared__ __align__(16) float shared[3840];
    float *s_A_out = shared;
    float *s_u_out = shared + 2304;
    float *s_v_out = shared + 3072;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_A_out, A_out + (size_t)first * 9, here * 9, thread);
    load_block<768, 256, true>(s_u_out, u_out + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to A#4 in the load of A#4
    d_mvmul33_1_compute_bx256_by1_bz1_sss(s_A_out, s_u_out, s_v_out, threadIdx.x);
    __syncthreads();  // the save of v#12 reads what other threads wrote to v#12 in mvmul33
    save_block<768, 256, true>(v_out + (size_t)first * 3, s_v_out, here * 3, thread);
}

cudaError_t case_1_launch(
    int count, const float *u_2, const float *s_2, const float *A_2, const float *B, float *s_3, float *u_3,
    float *A_3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, u_2, s_2, A_2, B, s_3, u_3, A_3);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *A_out, const float *u_out, float *v_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A_out, u_out, v_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 13 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *v_out, float *s_out, float *u_out, float *A_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_s_2 = workspace;
    float *d_u_2 = workspace + room * 1;
    float *d_A_2 = workspace + room * 4;
    cudaError_t error = cudaSuccess;
    const float *p_s_2 = s;
    const float *p_u_2 = u;
    const float *p_A_2 = A;
    for (int i1 = 0; i1 < 4; i1++) {
        float *n_s_2 = i1 % 2 == 0 ? d_s_2 : s_out;
        float *n_u_2 = i1 % 2 == 0 ? d_u_2 : u_out;
        float *n_A_2 = i1 % 2 == 0 ? d_A_2 : A_out;
        error = case_1_launch(count, p_u_2, p_s_2, p_A_2, B, n_s_2, n_u_2, n_A_2, stream);
        if (error != cudaSuccess) return error;
        p_s_2 = n_s_2;
        p_u_2 = n_u_2;
        p_A_2 = n_A_2;
    }
    error = case_2_launch(count, A_out, u_out, v_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *v_out, float *s_out, float *u_out, float *A_out)
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
    float *device_s_out = nullptr;
    float *device_u_out = nullptr;
    float *device_A_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_v_out, device_s_out, device_u_out, device_A_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(s_out, device_s_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(u_out, device_u_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_v_out);
    cudaFree(device_s_out);
    cudaFree(device_u_out);
    cudaFree(device_A_out);
    cudaFree(workspace);
    return error;
}
