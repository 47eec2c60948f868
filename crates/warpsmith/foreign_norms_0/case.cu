// case: 5 calls of elementary functions in 1 kernel.
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

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_srr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[tx * 3 + i];
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_rrr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_sr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[tx * 3 + k] * v[tx * 3 + k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx256_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_rrr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

// venorm3, svmul3, venorm3, svmul3, vvmulabs3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, const float *__restrict__ v, float *u)
{
    __shared__ __align__(16) float shared[768];
    float *s_v = shared;
    float r_s[1];
    float r_v_2[3];
    float r_t[1];
    float r_v_3[3];
    float r_u[1];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // venorm3 reads what other threads wrote to v in the load of v
    d_venorm3_1_compute_bx256_by1_bz1_sr(s_v, r_s, threadIdx.x);
    d_svmul3_1_compute_bx256_by1_bz1_srr(s_v, r_s, r_v_2, threadIdx.x);
    d_venorm3_1_compute_bx256_by1_bz1_rr(r_v_2, r_t, threadIdx.x);
    d_svmul3_1_compute_bx256_by1_bz1_rrr(r_v_2, r_t, r_v_3, threadIdx.x);
    d_vvmulabs3_1_compute_bx256_by1_bz1_rrr(r_v_3, r_v_3, r_u, threadIdx.x);
    save_own<1>(u + first + thread, r_u, 0, thread < here);
}

cudaError_t case_1_launch(int count, const float *v, float *u, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, u);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(int count, const float *v, float *u, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, v, u, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *v, float *u)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_v = nullptr;
    float *device_u = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_v, device_u, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(u, device_u, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_v);
    cudaFree(device_u);
    cudaFree(workspace);
    return error;
}
