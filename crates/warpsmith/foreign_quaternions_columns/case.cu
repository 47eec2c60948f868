// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>

#include "case.h"

// Brings the floats of an element to the registers of its thread; they stand `pitch` floats apart.
template <int SIZE>
static __device__ __forceinline__ void load_own(float *own, const float *global, size_t pitch)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) own[k] = __ldcs(global);
}

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
}

static __device__ __forceinline__ void d_qmul_v_compute_bx256_by1_bz1_rrr(float *p, float *q, float *r, int tx) {
    const float *a = p + 0, *b = q + 0;
    float *c = r + 0;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// qmul, qmul, qmul: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ p, const float *__restrict__ q, float *r, float *q_out)
{
    float r_p[4];
    float r_q[4];
    float r_r_2[4];
    float r_r[4];
    float r_q_out[4];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<4>(r_p, p + first + min(thread, here - 1), count);
    load_own<4>(r_q, q + first + min(thread, here - 1), count);
    d_qmul_v_compute_bx256_by1_bz1_rrr(r_p, r_q, r_r_2, threadIdx.x);
    d_qmul_v_compute_bx256_by1_bz1_rrr(r_r_2, r_r_2, r_r, threadIdx.x);
    d_qmul_v_compute_bx256_by1_bz1_rrr(r_q, r_r, r_q_out, threadIdx.x);
    save_own<4>(r + first + thread, r_r, count, thread < here);
    save_own<4>(q_out + first + thread, r_q_out, count, thread < here);
}

cudaError_t case_1_launch(
    int count, const float *p, const float *q, float *r, float *q_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, p, q, r, q_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *p, const float *q, float *q_out, float *r, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, p, q, r, q_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *p, const float *q, float *q_out, float *r)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_p = nullptr;
    float *device_q = nullptr;
    float *device_q_out = nullptr;
    float *device_r = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_p, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_q_out, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_r, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_p, p, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_q, q, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_p, device_q, device_q_out, device_r, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(q_out, device_q_out, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(r, device_r, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_p);
    cudaFree(device_q);
    cudaFree(device_q_out);
    cudaFree(device_r);
    cudaFree(workspace);
    return error;
}
