// case: 8 calls of elementary functions in 5 kernels.
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

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_ssr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_srr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[j];
}

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by256_bz1_srs(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[ty * 9 + tx * 3 + j] = A[ty * 9 + tx * 3 + j] + B[j];
}

static __device__ __forceinline__ void d_mvmul33_2_compute_bx3_by256_bz1_sss(float *A, float *v, float *w, int tx, int ty)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += A[ty * 9 + tx * 3 + k] * v[ty * 3 + k];
    w[ty * 3 + tx] = sum;
}

static __device__ __forceinline__ void d_smmul33_2_compute_bx3_by256_bz1_sss(float *A, float *s, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) C[ty * 9 + tx * 3 + j] = s[ty] * A[ty * 9 + tx * 3 + j];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// smmul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ s, float *B_2)
{
    __shared__ __align__(16) float shared[4864];
    float *s_A = shared;
    float *s_s = shared + 4608;
    float *s_B_2 = shared + 2304;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<256, 768, true>(s_s, s + (size_t)first * 1, here * 1, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to A in the load of A
    d_smmul33_2_compute_bx3_by256_bz1_sss(s_A, s_s, s_B_2, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#2 reads what other threads wrote to B#2 in smmul33
    save_block<2304, 768, true>(B_2 + (size_t)first * 9, s_B_2, here * 9, thread);
}

// madd33, madd33, mvmul33, madd33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_2(
    int count, const float *__restrict__ A, const float *__restrict__ B_3, const float *__restrict__ v,
    float *B_6, float *w_2)
{
    __shared__ __align__(16) float shared[5376];
    float *s_A = shared;
    float *s_B_3 = shared + 2304;
    float r_B_4[3];
    float r_B_5[3];
    float *s_B_6 = shared + 3072;
    float *s_v = shared + 4608;
    float *s_w_2 = shared + 2304;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<2304, 768, true>(s_B_3, B_3 + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to A in the load of A
    d_madd33_2_compute_bx3_by256_bz1_ssr(s_A, s_B_3, r_B_4, threadIdx.x, threadIdx.y);
    d_madd33_2_compute_bx3_by256_bz1_srr(s_A, r_B_4, r_B_5, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes w where other threads touched B#3 in madd33
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_A, s_v, s_w_2, threadIdx.x, threadIdx.y);
    __syncthreads();  // madd33 writes B#6 where other threads touched v in mvmul33
    d_madd33_2_compute_bx3_by256_bz1_srs(s_A, r_B_5, s_B_6, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of B#6 reads what other threads wrote to B#6 in madd33
    save_block<2304, 768, true>(B_6 + (size_t)first * 9, s_B_6, here * 9, thread);
    save_block<768, 768, true>(w_2 + (size_t)first * 3, s_w_2, here * 3, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(int count, const float *__restrict__ u, float *r_8)
{
    __shared__ __align__(16) float shared[768];
    float *s_u = shared;
    float r_r_8[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to u in the load of u
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_u, s_u, r_r_8, threadIdx.x);
    save_own<1>(r_8 + first + thread, r_r_8, 0, thread < here);
}

// mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_4(
    int count, const float *__restrict__ B_out, const float *__restrict__ w_3, float *w)
{
    __shared__ __align__(16) float shared[3840];
    float *s_B_out = shared;
    float *s_w_3 = shared + 2304;
    float *s_w = shared + 3072;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_B_out, B_out + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_w_3, w_3 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mvmul33 reads what other threads wrote to B#7 in the load of B#7
    d_mvmul33_2_compute_bx3_by256_bz1_sss(s_B_out, s_w_3, s_w, threadIdx.x, threadIdx.y);
    __syncthreads();  // the save of w#3 reads what other threads wrote to w#3 in mvmul33
    save_block<768, 768, true>(w + (size_t)first * 3, s_w, here * 3, thread);
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(int count, const float *__restrict__ u, float *t)
{
    __shared__ __align__(16) float shared[768];
    float *s_u = shared;
    float r_t[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to u in the load of u
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_u, r_t, threadIdx.x);
    save_own<1>(t + first + thread, r_t, 0, thread < here);
}

cudaError_t case_1_launch(int count, const float *A, const float *s, float *B_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, s, B_2);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *A, const float *B_3, const float *v, float *B_6, float *w_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, B_3, v, B_6, w_2);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *u, float *r_8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, u, r_8);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *B_out, const float *w_3, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_out, w_3, w);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *u, float *t, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, u, t);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 21 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *r_out, float *w, float *t, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_B_2 = workspace;
    float *d_B_3 = workspace + room * 9;
    float *d_w_2 = workspace + room * 18;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, s, d_B_2, stream);
    if (error != cudaSuccess) return error;
    const float *p_B_3 = d_B_2;
    for (int i1 = 0; i1 < 5; i1++) {
        float *n_B_3 = i1 % 2 == 0 ? B_out : d_B_3;
        error = case_2_launch(count, A, p_B_3, v, n_B_3, d_w_2, stream);
        if (error != cudaSuccess) return error;
        error = case_3_launch(count, u, r_out, stream);
        if (error != cudaSuccess) return error;
        p_B_3 = n_B_3;
    }
    error = case_4_launch(count, B_out, d_w_2, w, stream);
    if (error != cudaSuccess) return error;
    error = case_5_launch(count, u, t, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *r_out, float *w, float *t)
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
    float *device_B_out = nullptr;
    float *device_r_out = nullptr;
    float *device_w = nullptr;
    float *device_t = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_t, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_B_out, device_r_out, device_w, device_t, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(r_out, device_r_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(t, device_t, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_B_out);
    cudaFree(device_r_out);
    cudaFree(device_w);
    cudaFree(device_t);
    cudaFree(workspace);
    return error;
}
