// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>
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

static __device__ __forceinline__ void d_qrot_1_compute_bx256_by1_bz1_ssr(float *q, float *v, float *r, int tx)
{
    const float *p = q + (tx * 4);
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 0);
    float t1 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 1);
    float t2 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 2);
    r[0 + 0] = v[(tx * 3) + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[0 + 1] = v[(tx * 3) + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[0 + 2] = v[(tx * 3) + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
}

static __device__ __forceinline__ void d_qrot_1_compute_bx256_by1_bz1_srr(float *q, float *v, float *r, int tx)
{
    const float *p = q + (tx * 4);
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 0);
    float t1 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 1);
    float t2 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 2);
    r[0 + 0] = v[0 + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[0 + 1] = v[0 + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[0 + 2] = v[0 + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
}

static __device__ __forceinline__ void d_qrot_1_compute_bx256_by1_bz1_srs(float *q, float *v, float *r, int tx)
{
    const float *p = q + (tx * 4);
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 0);
    float t1 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 1);
    float t2 = 2.0f * cross_part(u, v[0], v[0 + 1], v[0 + 2], 2);
    r[(tx * 3) + 0] = v[0 + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[(tx * 3) + 1] = v[0 + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[(tx * 3) + 2] = v[0 + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
}

}

// qrot, qrot, qrot: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ q, const float *__restrict__ v, const float *__restrict__ p,
    float *w)
{
    __shared__ __align__(16) float shared[2816];
    float *s_q = shared;
    float *s_v = shared + 2048;
    float r_w_2[3];
    float *s_p = shared + 1024;
    float r_w_3[3];
    float *s_w = shared + 1024;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_q, q + (size_t)first * 4, here * 4, thread);
    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    load_block<1024, 256, true>(s_p, p + (size_t)first * 4, here * 4, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // qrot reads what other threads wrote to q in the load of q
    qrot::d_qrot_1_compute_bx256_by1_bz1_ssr(s_q, s_v, r_w_2, threadIdx.x);
    qrot::d_qrot_1_compute_bx256_by1_bz1_srr(s_p, r_w_2, r_w_3, threadIdx.x);
    __syncthreads();  // qrot writes w#3 where other threads touched p in qrot
    qrot::d_qrot_1_compute_bx256_by1_bz1_srs(s_q, r_w_3, s_w, threadIdx.x);
    __syncthreads();  // the save of w#3 reads what other threads wrote to w#3 in qrot
    save_block<768, 256, true>(w + (size_t)first * 3, s_w, here * 3, thread);
}

cudaError_t case_1_launch(
    int count, const float *q, const float *v, const float *p, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, q, v, p, w);
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
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
