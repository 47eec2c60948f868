// case: 10 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_qrot_1_compute_bx64_by1_bz1_rsr(float *q, float *v, float *r, int tx)
{
    const float *p = q + 0;
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 0);
    float t1 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 1);
    float t2 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 2);
    r[0 + 0] = v[(tx * 3) + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[0 + 1] = v[(tx * 3) + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[0 + 2] = v[(tx * 3) + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
}

static __device__ __forceinline__ void d_qrot_1_compute_bx64_by1_bz1_rrs(float *q, float *v, float *r, int tx)
{
    const float *p = q + 0;
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 0);
    float t1 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 1);
    float t2 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 2);
    r[(tx * 3) + 0] = v[0 + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[(tx * 3) + 1] = v[0 + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[(tx * 3) + 2] = v[0 + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
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

static __device__ __forceinline__ void d_qrot_1_save_bx64_by1_bz1_s(float *s, vec3 r, int tx, int bx)
{
    for (int i = 0; i < 3; i++) r[(bx * 64 + tx) * 3 + i] = s[(tx * 3) + i];
}

}

namespace symv {

__device__ const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
static const int host_place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

static __device__ __forceinline__ void d_symv_1_load_1_bx64_by1_bz1_s(sym3 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 6; i++) s[tx * 6 + i] = m[bx * 64 * 6 + tx * 6 + i];
}

static __device__ __forceinline__ void d_symv_1_load_2_bx64_by1_bz1_s(vec3 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 3; i++) s[tx * 3 + i] = m[bx * 64 * 3 + tx * 3 + i];
}

static __device__ __forceinline__ void d_symv_1_compute_bx64_by1_bz1_sss(float *m, float *v, float *r, int tx)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int j = 0; j < 3; j++) sum += m[tx * 6 + place[i * 3 + j]] * v[tx * 3 + j];
        r[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_symv_1_save_bx64_by1_bz1_s(float *s, vec3 m, int tx, int bx)
{
    for (int i = 0; i < 3; i++) m[bx * 64 * 3 + tx * 3 + i] = s[tx * 3 + i];
}

}

// symv, qrot, qrot, symv: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *S, float *v, float *q, float *v_5)
{
    __shared__ __align__(16) float shared[768];
    float *s_S = shared;
    float *s_v = shared + 384;
    float *s_v_2 = shared + 576;
    float r_q[4];
    float r_v_3[3];
    float *s_v_4 = shared + 384;
    float *s_v_5 = shared + 576;

    symv::d_symv_1_load_1_bx64_by1_bz1_s(S, s_S, threadIdx.x, blockIdx.x);
    symv::d_symv_1_load_2_bx64_by1_bz1_s(v, s_v, threadIdx.x, blockIdx.x);
    __syncthreads();  // symv reads what other threads wrote to S in the load of S
    symv::d_symv_1_compute_bx64_by1_bz1_sss(s_S, s_v, s_v_2, threadIdx.x);
    qrot::d_qrot_1_load_1_bx64_by1_bz1_r(q, r_q, threadIdx.x, blockIdx.x);
    __syncthreads();  // qrot reads what other threads wrote to v#2 in symv
    qrot::d_qrot_1_compute_bx64_by1_bz1_rsr(r_q, s_v_2, r_v_3, threadIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrs(r_q, r_v_3, s_v_4, threadIdx.x);
    __syncthreads();  // symv writes v#5 where other threads touched v#2 in qrot
    symv::d_symv_1_compute_bx64_by1_bz1_sss(s_S, s_v_4, s_v_5, threadIdx.x);
    __syncthreads();  // the save of v#5 reads what other threads wrote to v#5 in symv
    symv::d_symv_1_save_bx64_by1_bz1_s(s_v_5, v_5, threadIdx.x, blockIdx.x);
}

// qrot, qrot, symv, qrot, qrot, symv: 64 elements a block.
static __global__ void __launch_bounds__(64) case_2(
    int count, float *q, float *v_5, float *S, float *v_out, float *u)
{
    __shared__ __align__(16) float shared[768];
    float r_q[4];
    float r_v_5[3];
    float r_v_6[3];
    float *s_v_7 = shared + 384;
    float *s_S = shared;
    float *s_v_8 = shared + 576;
    float r_v_9[3];
    float *s_v_out = shared + 384;
    float *s_u = shared + 576;

    qrot::d_qrot_1_load_1_bx64_by1_bz1_r(q, r_q, threadIdx.x, blockIdx.x);
    qrot::d_qrot_1_load_2_bx64_by1_bz1_r(v_5, r_v_5, threadIdx.x, blockIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrr(r_q, r_v_5, r_v_6, threadIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrs(r_q, r_v_6, s_v_7, threadIdx.x);
    symv::d_symv_1_load_1_bx64_by1_bz1_s(S, s_S, threadIdx.x, blockIdx.x);
    __syncthreads();  // symv reads what other threads wrote to v#7 in qrot
    symv::d_symv_1_compute_bx64_by1_bz1_sss(s_S, s_v_7, s_v_8, threadIdx.x);
    __syncthreads();  // qrot reads what other threads wrote to v#8 in symv
    qrot::d_qrot_1_compute_bx64_by1_bz1_rsr(r_q, s_v_8, r_v_9, threadIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrs(r_q, r_v_9, s_v_out, threadIdx.x);
    qrot::d_qrot_1_save_bx64_by1_bz1_s(s_v_out, v_out, threadIdx.x, blockIdx.x);
    __syncthreads();  // symv writes u where other threads touched v#8 in qrot
    symv::d_symv_1_compute_bx64_by1_bz1_sss(s_S, s_v_out, s_u, threadIdx.x);
    __syncthreads();  // the save of u reads what other threads wrote to u in symv
    symv::d_symv_1_save_bx64_by1_bz1_s(s_u, u, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(
    int count, const float *S, const float *v, const float *q, float *v_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(S), const_cast<float *>(v), const_cast<float *>(q), v_5);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *q, const float *v_5, const float *S, float *v_out, float *u, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_2<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(q), const_cast<float *>(v_5), const_cast<float *>(S), v_out, u);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 67) / 4 * 4 * 3 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *S, const float *v, const float *q, float *u, float *v_out, float *workspace,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_v_5 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, S, v, q, d_v_5, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, q, d_v_5, S, v_out, u, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *S, const float *v, const float *q, float *u, float *v_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_S = nullptr;
    float *device_v = nullptr;
    float *device_q = nullptr;
    float *device_u = nullptr;
    float *device_v_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_S, room * 6 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_S, 0, room * 6 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_q, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_u, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v_out, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_S, S, (size_t)count * 6 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_q, q, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_S, device_v, device_q, device_u, device_v_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(u, device_u, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_S);
    cudaFree(device_v);
    cudaFree(device_q);
    cudaFree(device_u);
    cudaFree(device_v_out);
    cudaFree(workspace);
    return error;
}
