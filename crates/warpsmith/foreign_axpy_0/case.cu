// case: 3 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_axpy3_1_compute_bx256_by1_bz1_rssr(float *a, float *x, float *y, float *out, int tx) {
    out[0] = a[0] * x[tx * 3] + y[tx * 3];
    out[1] = a[0] * x[tx * 3 + 1] + y[tx * 3 + 1];
    out[2] = a[0] * x[tx * 3 + 2] + y[tx * 3 + 2];
}

static __device__ __forceinline__ void d_axpy3_1_compute_bx256_by1_bz1_rrss(float *a, float *x, float *y, float *out, int tx) {
    out[tx * 3] = a[0] * x[0] + y[tx * 3];
    out[tx * 3 + 1] = a[0] * x[1] + y[tx * 3 + 1];
    out[tx * 3 + 2] = a[0] * x[2] + y[tx * 3 + 2];
}

static __device__ __forceinline__ void d_axpy3_1_compute_bx256_by1_bz1_rsss(float *a, float *x, float *y, float *out, int tx) {
    out[tx * 3] = a[0] * x[tx * 3] + y[tx * 3];
    out[tx * 3 + 1] = a[0] * x[tx * 3 + 1] + y[tx * 3 + 1];
    out[tx * 3 + 2] = a[0] * x[tx * 3 + 2] + y[tx * 3 + 2];
}

// axpy3, axpy3, axpy3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ a, const float *__restrict__ x, const float *__restrict__ y,
    float *z)
{
    __shared__ __align__(16) float shared[1536];
    float r_a[1];
    float *s_x = shared;
    float *s_y = shared + 768;
    float r_z_2[3];
    float *s_z_3 = shared + 768;
    float *s_z = shared;
    const int thread = threadIdx.x;
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 256 >= count) break;
        const int first = block * 256;
        const int here = min(count - first, 256);

        load_own<1>(r_a, a + first + min(thread, here - 1), 0);
        __syncthreads();  // the load of x writes x where other threads touched z#3 in the save of z#3
        load_block<768, 256, true>(s_x, x + (size_t)first * 3, here * 3, thread);
        load_block<768, 256, true>(s_y, y + (size_t)first * 3, here * 3, thread);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // axpy3 reads what other threads wrote to x in the load of x
        d_axpy3_1_compute_bx256_by1_bz1_rssr(r_a, s_x, s_y, r_z_2, threadIdx.x);
        d_axpy3_1_compute_bx256_by1_bz1_rrss(r_a, r_z_2, s_x, s_z_3, threadIdx.x);
        d_axpy3_1_compute_bx256_by1_bz1_rsss(r_a, s_z_3, s_z_3, s_z, threadIdx.x);
        __syncthreads();  // the save of z#3 reads what other threads wrote to z#3 in axpy3
        save_block<768, 256, true>(z + (size_t)first * 3, s_z, here * 3, thread);
    }
}

cudaError_t case_1_launch(
    int count, const float *a, const float *x, const float *y, float *z, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 512 + 1, block, 0, stream>>>(count, a, x, y, z);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *a, const float *x, const float *y, float *z, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, x, y, z, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *a, const float *x, const float *y, float *z)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_x = nullptr;
    float *device_y = nullptr;
    float *device_z = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_y, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_z, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_x, x, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_y, y, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_x, device_y, device_z, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(z, device_z, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(device_z);
    cudaFree(workspace);
    return error;
}
