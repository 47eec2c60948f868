// case: 6 calls of elementary functions in 6 kernels.
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

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
}

static __device__ __forceinline__ void d_smimul33_1_compute_bx256_by1_bz1_rs(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = i % 4 == 0 ? s[0] : 0.0f;
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx256_by1_bz1_srs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[tx * 9 + i];
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

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, const float *__restrict__ B, float *B_2)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B = shared;
    float *s_B_2 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B, B + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to B in the load of B
    d_madd33_1_compute_bx256_by1_bz1_sss(s_B, s_B, s_B_2, threadIdx.x);
    __syncthreads();  // the save of B#2 reads what other threads wrote to B#2 in madd33
    save_block<2304, 256, true>(B_2 + (size_t)first * 9, s_B_2, here * 9, thread);
}

// svmul3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ v, const float *__restrict__ s, float *u_out)
{
    __shared__ __align__(16) float shared[1536];
    float *s_v = shared;
    float r_s[1];
    float *s_u_out = shared + 768;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // svmul3 reads what other threads wrote to v in the load of v
    d_svmul3_1_compute_bx256_by1_bz1_srs(s_v, r_s, s_u_out, threadIdx.x);
    __syncthreads();  // the save of u#10 reads what other threads wrote to u#10 in svmul3
    save_block<768, 256, true>(u_out + (size_t)first * 3, s_u_out, here * 3, thread);
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(int count, const float *__restrict__ v, float *r_out)
{
    __shared__ __align__(16) float shared[768];
    float *s_v = shared;
    float r_r_out[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to v in the load of v
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_v, r_r_out, threadIdx.x);
    save_own<1>(r_out + first + thread, r_r_out, 0, thread < here);
}

// smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ B_2, const float *__restrict__ s, float *C)
{
    __shared__ __align__(16) float shared[4608];
    float *s_B_2 = shared;
    float r_s[1];
    float *s_C = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_B_2, B_2 + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to B#2 in the load of B#2
    d_smmul33_1_compute_bx256_by1_bz1_srs(s_B_2, r_s, s_C, threadIdx.x);
    __syncthreads();  // the save of C#15 reads what other threads wrote to C#15 in smmul33
    save_block<2304, 256, true>(C + (size_t)first * 9, s_C, here * 9, thread);
}

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(int count, const float *__restrict__ s, float *B_out)
{
    __shared__ __align__(16) float shared[2304];
    float r_s[1];
    float *s_B_out = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    d_smimul33_1_compute_bx256_by1_bz1_rs(r_s, s_B_out, threadIdx.x);
    __syncthreads();  // the save of B#4 reads what other threads wrote to B#4 in smimul33
    save_block<2304, 256, true>(B_out + (size_t)first * 9, s_B_out, here * 9, thread);
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(int count, const float *__restrict__ v, float *s_out)
{
    __shared__ __align__(16) float shared[768];
    float *s_v = shared;
    float r_s_out[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to v in the load of v
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_v, r_s_out, threadIdx.x);
    save_own<1>(s_out + first + thread, r_s_out, 0, thread < here);
}

cudaError_t case_1_launch(int count, const float *B, float *B_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B, B_2);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *v, const float *s, float *u_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, s, u_out);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *v, float *r_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, r_out);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *B_2, const float *s, float *C, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, B_2, s, C);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *s, float *B_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, s, B_out);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *v, float *s_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, s_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 9 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *u_out, float *r_out, float *C, float *s_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_B_2 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, B, d_B_2, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, v, s, u_out, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, v, r_out, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, d_B_2, s, C, stream);
    if (error != cudaSuccess) return error;
    error = case_5_launch(count, s, B_out, stream);
    if (error != cudaSuccess) return error;
    error = case_6_launch(count, v, s_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *u_out, float *r_out, float *C, float *s_out)
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
    float *device_u_out = nullptr;
    float *device_r_out = nullptr;
    float *device_C = nullptr;
    float *device_s_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B_out, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s_out, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_B_out, device_u_out, device_r_out, device_C, device_s_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(B_out, device_B_out, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(u_out, device_u_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(r_out, device_r_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(C, device_C, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(s_out, device_s_out, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_B_out);
    cudaFree(device_u_out);
    cudaFree(device_r_out);
    cudaFree(device_C);
    cudaFree(device_s_out);
    cudaFree(workspace);
    return error;
}
