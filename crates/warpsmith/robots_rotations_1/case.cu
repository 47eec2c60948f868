// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <math.h>

#include "case.h"

/* element types of the robotics library */
#ifndef ROBO_TYPES_CUH
#define ROBO_TYPES_CUH
typedef float *real;      // warpsmith: elements 1
typedef float *vec2;      // warpsmith: elements 2
typedef float *vec3;      // warpsmith: elements 3
typedef float* vec4;      // warpsmith: elements 4
typedef float *quat;      // warpsmith: elements 4
typedef float *vec7;      // warpsmith: elements 7
typedef float *sym3;      // warpsmith: elements 6
typedef float *mat2;      // warpsmith: elements 4
typedef float *mat4;      // warpsmith: elements 16
typedef float *mat8;      // warpsmith: elements 64
typedef float *vec20;     // warpsmith: elements 20
typedef float *mat20;     // warpsmith: elements 400
#endif

#ifndef MATHX_CUH
#define MATHX_CUH
#define SQ(x) ((x) * (x))
struct two { float a, b; };
template <int N>
__device__ __host__ inline float dotn(const float *a, const float *b)
{
    float s = 0.0f;
    for (int k = 0; k < N; k++) s += a[k] * b[k];
    return s;
}
#endif

namespace qrot {

static __device__ __forceinline__ float cross_part(const float *a, float bx, float by, float bz, int k)
{
    return k == 0 ? a[1] * bz - a[2] * by : k == 1 ? a[2] * bx - a[0] * bz : a[0] * by - a[1] * bx;
}

static __device__ __forceinline__ void d_qrot_1_load_1_bx64_by1_bz1_r(quat q, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; i++) s[0 + i] = q[(bx * 64 + tx) * 4 + i];
}

static __device__ __forceinline__ void d_qrot_1_load_2_bx64_by1_bz1_r(vec3 v, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) s[0 + i] = v[(bx * 64 + tx) * 3 + i];
}

static __device__ __forceinline__ void d_qrot_1_compute_bx64_by1_bz1_rrr(float *q, float *v, float *r, int tx)
{
    const float *p = q + 0;
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 0);
    float t1 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 1);
    float t2 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 2);
    r[0 + 0] = v[0 + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[0 + 1] = v[0 + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[0 + 2] = v[0 + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
}

static __device__ __forceinline__ void d_qrot_1_save_bx64_by1_bz1_r(float *s, vec3 r, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) r[(bx * 64 + tx) * 3 + i] = s[0 + i];
}

}

// qrot, qrot, qrot: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *q, float *v, float *p, float *w)
{
    float r_q[4];
    float r_v[3];
    float r_w_2[3];
    float r_p[4];
    float r_w_3[3];
    float r_w[3];

    qrot::d_qrot_1_load_1_bx64_by1_bz1_r(q, r_q, threadIdx.x, blockIdx.x);
    qrot::d_qrot_1_load_2_bx64_by1_bz1_r(v, r_v, threadIdx.x, blockIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrr(r_q, r_v, r_w_2, threadIdx.x);
    qrot::d_qrot_1_load_1_bx64_by1_bz1_r(p, r_p, threadIdx.x, blockIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrr(r_p, r_w_2, r_w_3, threadIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrr(r_q, r_w_3, r_w, threadIdx.x);
    qrot::d_qrot_1_save_bx64_by1_bz1_r(r_w, w, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *q, const float *v, const float *p, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(q), const_cast<float *>(v), const_cast<float *>(p), w);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *q, const float *p, const float *v, float *w, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, q, v, p, w, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *q, const float *p, const float *v, float *w)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_q = nullptr;
    float *device_p = nullptr;
    float *device_v = nullptr;
    float *device_w = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_p, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_q, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_p, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_w, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_q, q, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_p, p, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_q, device_p, device_v, device_w, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_q);
    cudaFree(device_p);
    cudaFree(device_v);
    cudaFree(device_w);
    cudaFree(workspace);
    return error;
}
