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

static __device__ __forceinline__ void d_madd33_1_compute_bx256_by1_bz1_sss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = A[tx * 9 + i] + B[tx * 9 + i];
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

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[tx * 3 + k] * v[tx * 3 + k];
    s[0] = fabsf(sum);
}

// smmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ in_m, const float *__restrict__ in_s, float *x0)
{
    __shared__ __align__(16) float shared[4608];
    float *s_in_m = shared;
    float r_in_s[1];
    float *s_x0 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_own<1>(r_in_s, in_s + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // smmul33 reads what other threads wrote to in_m in the load of in_m
    d_smmul33_1_compute_bx256_by1_bz1_srs(s_in_m, r_in_s, s_x0, threadIdx.x);
    __syncthreads();  // the save of x0 reads what other threads wrote to x0 in smmul33
    save_block<2304, 256, true>(x0 + (size_t)first * 9, s_x0, here * 9, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(int count, const float *__restrict__ x0, float *x1)
{
    __shared__ __align__(16) float shared[4608];
    float *s_x0 = shared;
    float *s_x1 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_x0, x0 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to x0 in the load of x0
    d_madd33_1_compute_bx256_by1_bz1_sss(s_x0, s_x0, s_x1, threadIdx.x);
    __syncthreads();  // the save of x1 reads what other threads wrote to x1 in madd33
    save_block<2304, 256, true>(x1 + (size_t)first * 9, s_x1, here * 9, thread);
}

// vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(int count, const float *__restrict__ in_v, float *x2)
{
    __shared__ __align__(16) float shared[768];
    float *s_in_v = shared;
    float r_x2[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vvmulabs3 reads what other threads wrote to in_v in the load of in_v
    d_vvmulabs3_1_compute_bx256_by1_bz1_ssr(s_in_v, s_in_v, r_x2, threadIdx.x);
    save_own<1>(x2 + first + thread, r_x2, 0, thread < here);
}

// svmul3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ in_v, const float *__restrict__ x2, float *x3)
{
    __shared__ __align__(16) float shared[1536];
    float *s_in_v = shared;
    float r_x2[1];
    float *s_x3 = shared + 768;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_in_v, in_v + (size_t)first * 3, here * 3, thread);
    load_own<1>(r_x2, x2 + first + min(thread, here - 1), 0);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // svmul3 reads what other threads wrote to in_v in the load of in_v
    d_svmul3_1_compute_bx256_by1_bz1_srs(s_in_v, r_x2, s_x3, threadIdx.x);
    __syncthreads();  // the save of x3 reads what other threads wrote to x3 in svmul3
    save_block<768, 256, true>(x3 + (size_t)first * 3, s_x3, here * 3, thread);
}

// mmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(
    int count, const float *__restrict__ in_m, const float *__restrict__ x1, float *x4)
{
    __shared__ __align__(16) float shared[6912];
    float *s_in_m = shared;
    float *s_x1 = shared + 2304;
    float *s_x4 = shared + 4608;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_in_m, in_m + (size_t)first * 9, here * 9, thread);
    load_block<2304, 256, true>(s_x1, x1 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mmul33 reads what other threads wrote to in_m in the load of in_m
    d_mmul33_1_compute_bx256_by1_bz1_sss(s_in_m, s_x1, s_x4, threadIdx.x);
    __syncthreads();  // the save of x4 reads what other threads wrote to x4 in mmul33
    save_block<2304, 256, true>(x4 + (size_t)first * 9, s_x4, here * 9, thread);
}

// madd33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(int count, const float *__restrict__ x4, float *x5)
{
    __shared__ __align__(16) float shared[4608];
    float *s_x4 = shared;
    float *s_x5 = shared + 2304;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 256, true>(s_x4, x4 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // madd33 reads what other threads wrote to x4 in the load of x4
    d_madd33_1_compute_bx256_by1_bz1_sss(s_x4, s_x4, s_x5, threadIdx.x);
    __syncthreads();  // the save of x5 reads what other threads wrote to x5 in madd33
    save_block<2304, 256, true>(x5 + (size_t)first * 9, s_x5, here * 9, thread);
}

// venorm3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_7(int count, const float *__restrict__ x3, float *x6)
{
    __shared__ __align__(16) float shared[768];
    float *s_x3 = shared;
    float r_x6[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_x3, x3 + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to x3 in the load of x3
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_x3, r_x6, threadIdx.x);
    save_own<1>(x6 + first + thread, r_x6, 0, thread < here);
}

// smimul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_8(int count, const float *__restrict__ x2, float *x7)
{
    __shared__ __align__(16) float shared[2304];
    float r_x2[1];
    float *s_x7 = shared;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<1>(r_x2, x2 + first + min(thread, here - 1), 0);
    d_smimul33_1_compute_bx256_by1_bz1_rs(r_x2, s_x7, threadIdx.x);
    __syncthreads();  // the save of x7 reads what other threads wrote to x7 in smimul33
    save_block<2304, 256, true>(x7 + (size_t)first * 9, s_x7, here * 9, thread);
}

cudaError_t case_1_launch(int count, const float *in_m, const float *in_s, float *x0, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, in_s, x0);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *x0, float *x1, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x0, x1);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *in_v, float *x2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x2);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *in_v, const float *x2, float *x3, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_v, x2, x3);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *in_m, const float *x1, float *x4, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, in_m, x1, x4);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *x4, float *x5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x4, x5);
    return cudaGetLastError();
}

cudaError_t case_7_launch(int count, const float *x3, float *x6, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_7<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x3, x6);
    return cudaGetLastError();
}

cudaError_t case_8_launch(int count, const float *x2, float *x7, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_8<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x2, x7);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 22 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x5, float *x6, float *x7,
    float *x0, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_x1 = workspace;
    float *d_x2 = workspace + room * 9;
    float *d_x3 = workspace + room * 10;
    float *d_x4 = workspace + room * 13;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, in_s, x0, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, x0, d_x1, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, in_v, d_x2, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, in_v, d_x2, d_x3, stream);
    if (error != cudaSuccess) return error;
    error = case_5_launch(count, in_m, d_x1, d_x4, stream);
    if (error != cudaSuccess) return error;
    error = case_6_launch(count, d_x4, x5, stream);
    if (error != cudaSuccess) return error;
    error = case_7_launch(count, d_x3, x6, stream);
    if (error != cudaSuccess) return error;
    error = case_8_launch(count, d_x2, x7, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x5, float *x6, float *x7,
    float *x0)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_x5 = nullptr;
    float *device_x6 = nullptr;
    float *device_x7 = nullptr;
    float *device_x0 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x6, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x7, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_in_s, device_x5, device_x6, device_x7, device_x0, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x5, device_x5, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x6, device_x6, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x7, device_x7, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x0, device_x0, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x5);
    cudaFree(device_x6);
    cudaFree(device_x7);
    cudaFree(device_x0);
    cudaFree(workspace);
    return error;
}
