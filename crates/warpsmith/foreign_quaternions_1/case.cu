// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>

#include "case.h"

// The element types: each a pointer to float, and the number of floats that one element has. Element e of an array of
// 3x3 matrices begins at offset 9 * e; rows follow one another.

typedef float *scalar;         // warpsmith: elements 1
typedef float *vector3;        // warpsmith: elements 3
typedef float *matrix3x3;      // warpsmith: elements 9
typedef float *matrix5x5;      // warpsmith: elements 25
typedef float *tensor3x3x3;    // warpsmith: elements 27
typedef float *tensor3x3x3x3;  // warpsmith: elements 81
typedef float *matrix4x4; // warpsmith: elements 16
typedef float *quaternion; // warpsmith: elements 4
typedef float *vector7; // warpsmith: elements 7

static __device__ __forceinline__ void d_qmul_v_load_1_bx64_by1_bz1_s(quaternion g, float *s, int tx, int bx) {
    *(float4 *)(s + tx * 4) = *(const float4 *)(g + (bx * 64 + tx) * 4);
}

static __device__ __forceinline__ void d_qmul_v_load_2_bx64_by1_bz1_s(quaternion g, float *s, int tx, int bx) {
    *(float4 *)(s + tx * 4) = *(const float4 *)(g + (bx * 64 + tx) * 4);
}

static __device__ __forceinline__ void d_qmul_v_compute_bx64_by1_bz1_ssr(float *p, float *q, float *r, int tx) {
    const float *a = p + tx * 4, *b = q + tx * 4;
    float *c = r + 0;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static __device__ __forceinline__ void d_qmul_v_compute_bx64_by1_bz1_rrs(float *p, float *q, float *r, int tx) {
    const float *a = p + 0, *b = q + 0;
    float *c = r + tx * 4;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static __device__ __forceinline__ void d_qmul_v_save_bx64_by1_bz1_s(float *s, quaternion g, int tx, int bx) {
    *(float4 *)(g + (bx * 64 + tx) * 4) = *(const float4 *)(s + tx * 4);
}

static __device__ __forceinline__ void d_qmul_v_compute_bx64_by1_bz1_sss(float *p, float *q, float *r, int tx) {
    const float *a = p + tx * 4, *b = q + tx * 4;
    float *c = r + tx * 4;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// qmul, qmul, qmul: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *p, float *q, float *r, float *q_out)
{
    __shared__ __align__(16) float shared[768];
    float *s_p = shared;
    float *s_q = shared + 256;
    float r_r_2[4];
    float *s_r = shared;
    float *s_q_out = shared + 512;

    d_qmul_v_load_1_bx64_by1_bz1_s(p, s_p, threadIdx.x, blockIdx.x);
    d_qmul_v_load_2_bx64_by1_bz1_s(q, s_q, threadIdx.x, blockIdx.x);
    d_qmul_v_compute_bx64_by1_bz1_ssr(s_p, s_q, r_r_2, threadIdx.x);
    d_qmul_v_compute_bx64_by1_bz1_rrs(r_r_2, r_r_2, s_r, threadIdx.x);
    d_qmul_v_save_bx64_by1_bz1_s(s_r, r, threadIdx.x, blockIdx.x);
    d_qmul_v_compute_bx64_by1_bz1_sss(s_q, s_r, s_q_out, threadIdx.x);
    d_qmul_v_save_bx64_by1_bz1_s(s_q_out, q_out, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *p, const float *q, float *r, float *q_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(p), const_cast<float *>(q), r, q_out);
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
    const size_t room = ((size_t)count + 67) / 4 * 4;
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
    if (error == cudaSuccess) error = cudaMemset(device_p, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_q, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_q_out, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_r, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
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
