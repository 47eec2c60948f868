// case: 2 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_qmul_v_compute_bx256_by1_bz1_sss(float *p, float *q, float *r, int tx) {
    const float *a = p + tx * 4, *b = q + tx * 4;
    float *c = r + tx * 4;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// qmul, qmul: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ p, float *qmul_out, float *p_out)
{
    __shared__ __align__(16) float shared[3072];
    float *s_p = shared;
    float *s_qmul_out = shared + 1024;
    float *s_p_out = shared + 2048;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_p, p + (size_t)first * 4, here * 4, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // qmul reads what other threads wrote to p in the load of p
    d_qmul_v_compute_bx256_by1_bz1_sss(s_p, s_p, s_qmul_out, threadIdx.x);
    d_qmul_v_compute_bx256_by1_bz1_sss(s_qmul_out, s_p, s_p_out, threadIdx.x);
    __syncthreads();  // the save of qmul reads what other threads wrote to qmul in qmul
    save_block<1024, 256, true>(qmul_out + (size_t)first * 4, s_qmul_out, here * 4, thread);
    save_block<1024, 256, true>(p_out + (size_t)first * 4, s_p_out, here * 4, thread);
}

cudaError_t case_1_launch(int count, const float *p, float *qmul_out, float *p_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, p, qmul_out, p_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *p, float *p_out, float *qmul_out, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, p, qmul_out, p_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *p, float *p_out, float *qmul_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_p = nullptr;
    float *device_p_out = nullptr;
    float *device_qmul_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_p, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_p_out, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_qmul_out, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_p, p, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_p, device_p_out, device_qmul_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(p_out, device_p_out, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(qmul_out, device_qmul_out, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_p);
    cudaFree(device_p_out);
    cudaFree(device_qmul_out);
    cudaFree(workspace);
    return error;
}
