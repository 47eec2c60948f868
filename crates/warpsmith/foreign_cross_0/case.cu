// case: 6 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_rrs(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[tx * 3 + i] = s[0] * v[i];
}

namespace vcross3 {

static __device__ void cross3(const float *u, const float *v, float *w)
{
    w[0] = u[1] * v[2] - u[2] * v[1];
    w[1] = u[2] * v[0] - u[0] * v[2];
    w[2] = u[0] * v[1] - u[1] * v[0];
}

static __device__ __forceinline__ void d_vcross3_1_compute_bx256_by1_bz1_sss(float *u, float *v, float *w, int tx)
{
    cross3(u + tx * 3, v + 3 * tx, w + 3 * tx);
}

static __device__ __forceinline__ void d_vcross3_1_compute_bx256_by1_bz1_ssr(float *u, float *v, float *w, int tx)
{
    cross3(u + tx * 3, v + 3 * tx, w + 0);
}

}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_rrr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

// vcross3, vcross3, mvmul33, vvmulabs3, svmul3, vcross3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ M,
    float *c, float *d, float *a_out)
{
    __shared__ __align__(16) float shared[4608];
    float *s_a = shared + 2304;
    float *s_b = shared + 3072;
    float *s_c = shared + 3840;
    float r_d_2[3];
    float *s_M = shared;
    float r_b_2[3];
    float r_s[1];
    float *s_d = shared;
    float *s_a_out = shared + 768;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_a, a + (size_t)first * 3, here * 3, thread);
    load_block<768, 256, true>(s_b, b + (size_t)first * 3, here * 3, thread);
    load_block<2304, 256, true>(s_M, M + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vcross3 reads what other threads wrote to a in the load of a
    vcross3::d_vcross3_1_compute_bx256_by1_bz1_sss(s_a, s_b, s_c, threadIdx.x);
    vcross3::d_vcross3_1_compute_bx256_by1_bz1_ssr(s_c, s_a, r_d_2, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_ssr(s_M, s_c, r_b_2, threadIdx.x);
    d_vvmulabs3_1_compute_bx256_by1_bz1_rrr(r_b_2, r_d_2, r_s, threadIdx.x);
    __syncthreads();  // svmul3 writes d#2 where other threads touched M in mvmul33
    d_svmul3_1_compute_bx256_by1_bz1_rrs(r_d_2, r_s, s_d, threadIdx.x);
    vcross3::d_vcross3_1_compute_bx256_by1_bz1_sss(s_d, s_d, s_a_out, threadIdx.x);
    save_block<768, 256, true>(c + (size_t)first * 3, s_c, here * 3, thread);
    __syncthreads();  // the save of d#2 reads what other threads wrote to d#2 in svmul3
    save_block<768, 256, true>(d + (size_t)first * 3, s_d, here * 3, thread);
    save_block<768, 256, true>(a_out + (size_t)first * 3, s_a_out, here * 3, thread);
}

cudaError_t case_1_launch(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, a, b, M, c, d, a_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, b, M, c, d, a_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_M = nullptr;
    float *device_c = nullptr;
    float *device_d = nullptr;
    float *device_a_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_M, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_c, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_d, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_b, b, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_M, M, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, device_M, device_c, device_d, device_a_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(c, device_c, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(d, device_d, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(a_out, device_a_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_M);
    cudaFree(device_c);
    cudaFree(device_d);
    cudaFree(device_a_out);
    cudaFree(workspace);
    return error;
}
