// case: 10 calls of elementary functions in 2 kernels.
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

namespace symv {

__device__ const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
static const int host_place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

static __device__ __forceinline__ void d_symv_1_compute_bx256_by1_bz1_sss(float *m, float *v, float *r, int tx)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int j = 0; j < 3; j++) sum += m[tx * 6 + place[i * 3 + j]] * v[tx * 3 + j];
        r[tx * 3 + i] = sum;
    }
}

}

// symv, qrot, qrot, symv: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ S, const float *__restrict__ v, const float *__restrict__ q,
    float *v_5)
{
    __shared__ __align__(16) float shared[4096];
    float *s_S = shared;
    float *s_v = shared + 2560;
    float *s_v_2 = shared + 3328;
    float *s_q = shared + 1536;
    float r_v_3[3];
    float *s_v_4 = shared + 2560;
    float *s_v_5 = shared + 1536;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1536, 256, true>(s_S, S + (size_t)first * 6, here * 6, thread);
    load_block<768, 256, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    load_block<1024, 256, true>(s_q, q + (size_t)first * 4, here * 4, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // symv reads what other threads wrote to S in the load of S
    symv::d_symv_1_compute_bx256_by1_bz1_sss(s_S, s_v, s_v_2, threadIdx.x);
    __syncthreads();  // qrot reads what other threads wrote to v#2 in symv
    qrot::d_qrot_1_compute_bx256_by1_bz1_ssr(s_q, s_v_2, r_v_3, threadIdx.x);
    qrot::d_qrot_1_compute_bx256_by1_bz1_srs(s_q, r_v_3, s_v_4, threadIdx.x);
    __syncthreads();  // symv writes v#5 where other threads touched q in qrot
    symv::d_symv_1_compute_bx256_by1_bz1_sss(s_S, s_v_4, s_v_5, threadIdx.x);
    __syncthreads();  // the save of v#5 reads what other threads wrote to v#5 in symv
    save_block<768, 256, true>(v_5 + (size_t)first * 3, s_v_5, here * 3, thread);
}

// qrot, qrot, symv, qrot, qrot, symv: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(
    int count, const float *__restrict__ q, const float *__restrict__ v_5, const float *__restrict__ S,
    float *v_out, float *u)
{
    __shared__ __align__(16) float shared[4096];
    float *s_q = shared + 1536;
    float *s_v_5 = shared + 2560;
    float r_v_6[3];
    float *s_v_7 = shared + 2560;
    float *s_S = shared;
    float *s_v_8 = shared + 3328;
    float r_v_9[3];
    float *s_v_out = shared + 2560;
    float *s_u = shared + 1536;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_q, q + (size_t)first * 4, here * 4, thread);
    load_block<768, 256, true>(s_v_5, v_5 + (size_t)first * 3, here * 3, thread);
    load_block<1536, 256, true>(s_S, S + (size_t)first * 6, here * 6, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // qrot reads what other threads wrote to q in the load of q
    qrot::d_qrot_1_compute_bx256_by1_bz1_ssr(s_q, s_v_5, r_v_6, threadIdx.x);
    qrot::d_qrot_1_compute_bx256_by1_bz1_srs(s_q, r_v_6, s_v_7, threadIdx.x);
    __syncthreads();  // symv reads what other threads wrote to v#7 in qrot
    symv::d_symv_1_compute_bx256_by1_bz1_sss(s_S, s_v_7, s_v_8, threadIdx.x);
    __syncthreads();  // qrot reads what other threads wrote to v#8 in symv
    qrot::d_qrot_1_compute_bx256_by1_bz1_ssr(s_q, s_v_8, r_v_9, threadIdx.x);
    qrot::d_qrot_1_compute_bx256_by1_bz1_srs(s_q, r_v_9, s_v_out, threadIdx.x);
    __syncthreads();  // symv writes u where other threads touched q in qrot
    symv::d_symv_1_compute_bx256_by1_bz1_sss(s_S, s_v_out, s_u, threadIdx.x);
    save_block<768, 256, true>(v_out + (size_t)first * 3, s_v_out, here * 3, thread);
    __syncthreads();  // the save of u reads what other threads wrote to u in symv
    save_block<768, 256, true>(u + (size_t)first * 3, s_u, here * 3, thread);
}

cudaError_t case_1_launch(
    int count, const float *S, const float *v, const float *q, float *v_5, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, S, v, q, v_5);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *q, const float *v_5, const float *S, float *v_out, float *u, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, q, v_5, S, v_out, u);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 3 * sizeof(float);
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
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
