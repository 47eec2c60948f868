// case: 10 calls of elementary functions in 10 kernels.
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

static __device__ __forceinline__ void d_smmul55_1_compute_bx128_by1_bz1_srs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 25; i++) C[tx * 25 + i] = s[0] * A[tx * 25 + i];
}

static __device__ __forceinline__ void d_ttmul311_1_compute_bx256_by1_bz1_sss(float *T, float *v, float *R, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += T[tx * 27 + i * 3 + k] * v[tx * 3 + k];
        R[tx * 9 + i] = sum;
    }
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

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, const float *__restrict__ in_s, float *x0)
{
    __shared__ __align__(16) float shared[2304];
    float r_in_s[1];
    float *s_x0 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<1>(r_in_s, in_s + first + min(thread, here - 1), 0);
    d_smimul33_1_compute_bx256_by1_bz1_rs(r_in_s, s_x0, threadIdx.x);
    __syncthreads();  // the save of x0 reads what other threads wrote to x0 in smimul33
    save_block<2304, 256, true>(x0 + (size_t)first * 9, s_x0, here * 9, thread);
}

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(int count, const float *__restrict__ in_s, float *x1)
{
    __shared__ __align__(16) float shared[2304];
    float r_in_s[1];
    float *s_x1 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<1>(r_in_s, in_s + first + min(thread, here - 1), 0);
    d_smimul33_1_compute_bx256_by1_bz1_rs(r_in_s, s_x1, threadIdx.x);
    __syncthreads();  // the save of x1 reads what other threads wrote to x1 in smimul33
    save_block<2304, 256, true>(x1 + (size_t)first * 9, s_x1, here * 9, thread);
}

// ttmul311: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(
    int count, const float *__restrict__ in_3, const float *__restrict__ in_v, float *x2)
{
    __shared__ __align__(16) float shared[9984];
    float *s_in_3 = shared;
    float *s_in_v = shared + 9216;
    float *s_x2 = shared + 6912;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<6912, 256, true>(s_in_3, in_3 + (size_t)first * 27, here * 27, thread);
    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // ttmul311 reads what other threads wrote to in_3 in the load of in_3
    d_ttmul311_1_compute_bx256_by1_bz1_sss(s_in_3, s_in_v, s_x2, threadIdx.x);
    __syncthreads();  // the save of x2 reads what other threads wrote to x2 in ttmul311
    save_block<2304, 256, true>(x2 + (size_t)first * 9, s_x2, here * 9, thread);
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(int count, const float *__restrict__ in_v, float *x3)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x3[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to in_v in the load of in_v
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_in_v, r_x3, threadIdx.x);
    save_own<1>(x3 + first + thread, r_x3, 0, thread < here);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(int count, const float *__restrict__ in_v, float *x4)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x4[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to in_v in the load of in_v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x4, threadIdx.x);
    save_own<1>(x4 + first + thread, r_x4, 0, thread < here);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(
    int count, const float *__restrict__ x0, const float *__restrict__ x2, float *x5)
{
    __shared__ __align__(16) float shared[6912];
    float *s_x0 = shared;
    float *s_x2 = shared + 2304;
    float *s_x5 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_x0, x0 + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_x2, x2 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to x0 in the load of x0
    d_madd33_1_compute_bx256_by1_bz1_sss(s_x0, s_x2, s_x5, threadIdx.x);
    __syncthreads();  // the save of x5 reads what other threads wrote to x5 in madd33
    save_block<2304, 256, true>(x5 + (size_t)first * 9, s_x5, here * 9, thread);
}

// smmul55: 128 elements a block.
static __global__ void __launch_bounds__(128) case_7(
    int count, const float *__restrict__ in_M, const float *__restrict__ x3, float *x6)
{
    __shared__ __align__(16) float shared[6400];
    float *s_in_M = shared;
    float r_x3[1];
    float *s_x6 = shared + 3200;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 128;
    const int here = min(count - first, 128);

    load_block<3200, 128, true>(s_in_M, in_M + (size_t)first * 25, here * 25, thread);
    load_own<1>(r_x3, x3 + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul55 reads what other threads wrote to in_M in the load of in_M
    d_smmul55_1_compute_bx128_by1_bz1_srs(s_in_M, r_x3, s_x6, threadIdx.x);
    __syncthreads();  // the save of x6 reads what other threads wrote to x6 in smmul55
    save_block<3200, 128, true>(x6 + (size_t)first * 25, s_x6, here * 25, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_8(int count, const float *__restrict__ in_v, float *x7)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x7[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to in_v in the load of in_v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x7, threadIdx.x);
    save_own<1>(x7 + first + thread, r_x7, 0, thread < here);
}

// smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_9(
    int count, const float *__restrict__ x5, const float *__restrict__ x4, float *x8)
{
    __shared__ __align__(16) float shared[4608];
    float *s_x5 = shared;
    float r_x4[1];
    float *s_x8 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_x5, x5 + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_x4, x4 + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to x5 in the load of x5
    d_smmul33_1_compute_bx256_by1_bz1_srs(s_x5, r_x4, s_x8, threadIdx.x);
    __syncthreads();  // the save of x8 reads what other threads wrote to x8 in smmul33
    save_block<2304, 256, true>(x8 + (size_t)first * 9, s_x8, here * 9, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_10(int count, const float *__restrict__ in_v, float *x9)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x9[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to in_v in the load of in_v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x9, threadIdx.x);
    save_own<1>(x9 + first + thread, r_x9, 0, thread < here);
}

cudaError_t case_1_launch(int count, const float *in_s, float *x0, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_s, x0);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *in_s, float *x1, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_s, x1);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *in_3, const float *in_v, float *x2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_3, in_v, x2);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *in_v, float *x3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x3);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *in_v, float *x4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x4);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *x0, const float *x2, float *x5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x0, x2, x5);
    return cudaGetLastError();
}

cudaError_t case_7_launch(int count, const float *in_M, const float *x3, float *x6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(128, 1, 1);
    case_7<<<(count - 1) / 128 + 1, block, 0, stream>>>(count, in_M, x3, x6);
    return cudaGetLastError();
}

cudaError_t case_8_launch(int count, const float *in_v, float *x7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_8<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x7);
    return cudaGetLastError();
}

cudaError_t case_9_launch(int count, const float *x5, const float *x4, float *x8, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_9<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x5, x4, x8);
    return cudaGetLastError();
}

cudaError_t case_10_launch(int count, const float *in_v, float *x9, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_10<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x9);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 29 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_M, const float *in_v, const float *in_s, const float *in_3, float *x1,
    float *x6, float *x7, float *x8, float *x9, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_x0 = workspace;
    float *d_x2 = workspace + room * 9;
    float *d_x3 = workspace + room * 18;
    float *d_x4 = workspace + room * 19;
    float *d_x5 = workspace + room * 20;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_s, d_x0, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_s, x1, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, in_3, in_v, d_x2, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, in_v, d_x3, stream);
    if (error != cudaSuccess) return error;
    error = case_5_launch(count, in_v, d_x4, stream);
    if (error != cudaSuccess) return error;
    error = case_6_launch(count, d_x0, d_x2, d_x5, stream);
    if (error != cudaSuccess) return error;
    error = case_7_launch(count, in_M, d_x3, x6, stream);
    if (error != cudaSuccess) return error;
    error = case_8_launch(count, in_v, x7, stream);
    if (error != cudaSuccess) return error;
    error = case_9_launch(count, d_x5, d_x4, x8, stream);
    if (error != cudaSuccess) return error;
    error = case_10_launch(count, in_v, x9, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_M, const float *in_v, const float *in_s, const float *in_3, float *x1,
    float *x6, float *x7, float *x8, float *x9)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_M = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_in_3 = nullptr;
    float *device_x1 = nullptr;
    float *device_x6 = nullptr;
    float *device_x7 = nullptr;
    float *device_x8 = nullptr;
    float *device_x9 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_3, room * 27 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x1, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x6, room * 25 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x7, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x8, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x9, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_3, in_3, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_M, device_in_v, device_in_s, device_in_3, device_x1, device_x6, device_x7, device_x8, device_x9, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x1, device_x1, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x6, device_x6, (size_t)count * 25 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x7, device_x7, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x8, device_x8, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x9, device_x9, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_in_3);
    cudaFree(device_x1);
    cudaFree(device_x6);
    cudaFree(device_x7);
    cudaFree(device_x8);
    cudaFree(device_x9);
    cudaFree(workspace);
    return error;
}
