// case: 9 calls of elementary functions in 6 kernels.
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

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
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

static __device__ __forceinline__ void d_axpby7_1_compute_bx256_by1_bz1_sssss(float *a, float *x, float *b, float *y, float *r, int tx)
{
    for (int i = 0; i < 7; i++) r[(tx * 7) + i] = a[(tx)] * x[(tx * 7) + i] + b[(tx)] * y[(tx * 7) + i];
}

namespace inv2 {

__device__ inline two halves(const float *m) { two t; t.a = m[0] * m[3]; t.b = m[1] * m[2]; return t; }

static __device__ __forceinline__ void d_inv2_a_compute_bx256_by1_bz1_sr(float *m, float *r, int tx)
{
    two t = halves(m + tx * 4);
    float d = 1.0f / (t.a - t.b + 2.0f);
    r[0] = m[tx * 4 + 3] * d;
    r[1] = -m[tx * 4 + 1] * d;
    r[2] = -m[tx * 4 + 2] * d;
    r[3] = m[tx * 4 + 0] * d;
}

}

#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]

static __device__ __forceinline__ void d_mul4_1_compute_bx256_by1_bz1_sss(float *a, float *b, float *c, int tx)
{
    a += tx * 16;
    b += tx * 16;
    c += tx * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            AT(c, i, j) = AT(a, i, 0) * AT(b, 0, j) + AT(a, i, 1) * AT(b, 1, j) + AT(a, i, 2) * AT(b, 2, j) + AT(a, i, 3) * AT(b, 3, j);
}

#undef N4
#undef AT
static __device__ __forceinline__ void d_mv2_b_compute_bx256_by1_bz1_rss(float *m, float *v, float *r, int tx)
{
    float x = v[tx * 2], y = v[tx * 2 + 1];
    int k = 0;
    while (k < 2) {
        r[tx * 2 + k] = m[k * 2] * x + m[k * 2 + 1] * y;
        k++;
    }
}

static __device__ __forceinline__ void d_norm7_1_compute_bx256_by1_bz1_sr(float *x, float *n, int tx)
{
    n[0] = sqrtf(dotn<7>(x + tx * 7, x + tx * 7));
}

static __device__ __forceinline__ void d_pick7_1_compute_bx256_by1_bz1_sss(float *x, float *w, float *r, int tx)
{
    int k = (int)(w[tx] * 5.0f) % 7;
    k = k < 0 ? 0 : k;
    r[tx] = x[tx * 7 + k];
}

namespace qrot {

static __device__ __forceinline__ float cross_part(const float *a, float bx, float by, float bz, int k)
{
    return k == 0 ? a[1] * bz - a[2] * by : k == 1 ? a[2] * bx - a[0] * bz : a[0] * by - a[1] * bx;
}

static __device__ __forceinline__ void d_qrot_1_compute_bx256_by1_bz1_sss(float *q, float *v, float *r, int tx)
{
    const float *p = q + (tx * 4);
    float w = p[0];
    const float *u = p + 1;
    float t0 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 0);
    float t1 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 1);
    float t2 = 2.0f * cross_part(u, v[(tx * 3)], v[(tx * 3) + 1], v[(tx * 3) + 2], 2);
    r[(tx * 3) + 0] = v[(tx * 3) + 0] + w * t0 + cross_part(u, t0, t1, t2, 0);
    r[(tx * 3) + 1] = v[(tx * 3) + 1] + w * t1 + cross_part(u, t0, t1, t2, 1);
    r[(tx * 3) + 2] = v[(tx * 3) + 2] + w * t2 + cross_part(u, t0, t1, t2, 2);
}

}

#define SWAP(a, b) do { if (t[a] > t[b]) { float z = t[a]; t[a] = t[b]; t[b] = z; } } while (0)

static __device__ __forceinline__ void d_sort4_1_compute_bx256_by1_bz1_ss(float *v, float *r, int tx)
{
    float t[4];
    for (int i = 0; i < 4; i++) t[i] = v[4 * tx + i];
    SWAP(0, 1); SWAP(2, 3); SWAP(0, 2); SWAP(1, 3); SWAP(1, 2);
    for (int i = 0; i < 4; i++) r[4 * tx + i] = t[i];
}

#undef SWAP
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

// qrot, symv: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ q, const float *__restrict__ u, const float *__restrict__ S,
    float *u_out)
{
    __shared__ __align__(16) float shared[4096];
    float *s_q = shared + 1536;
    float *s_u = shared + 2560;
    float *s_u_2 = shared + 3328;
    float *s_S = shared;
    float *s_u_out = shared + 1536;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_q, q + (size_t)first * 4, here * 4, thread);
    load_block<768, 256, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    load_block<1536, 256, true>(s_S, S + (size_t)first * 6, here * 6, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // qrot reads what other threads wrote to q in the load of q
    qrot::d_qrot_1_compute_bx256_by1_bz1_sss(s_q, s_u, s_u_2, threadIdx.x);
    __syncthreads();  // symv writes u#3 where other threads touched q in qrot
    symv::d_symv_1_compute_bx256_by1_bz1_sss(s_S, s_u_2, s_u_out, threadIdx.x);
    __syncthreads();  // the save of u#3 reads what other threads wrote to u#3 in symv
    save_block<768, 256, true>(u_out + (size_t)first * 3, s_u_out, here * 3, thread);
}

// mul4: 256 elements a block.
static __global__ void __launch_bounds__(256) case_2(int count, const float *__restrict__ A, float *A_out)
{
    __shared__ __align__(16) float shared[8192];
    float *s_A = shared;
    float *s_A_out = shared + 4096;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<4096, 256, true>(s_A, A + (size_t)first * 16, here * 16, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // mul4 reads what other threads wrote to A in the load of A
    d_mul4_1_compute_bx256_by1_bz1_sss(s_A, s_A, s_A_out, threadIdx.x);
    __syncthreads();  // the save of A#2 reads what other threads wrote to A#2 in mul4
    save_block<4096, 256, true>(A_out + (size_t)first * 16, s_A_out, here * 16, thread);
}

// norm7: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(int count, const float *__restrict__ x, float *n)
{
    __shared__ __align__(16) float shared[1792];
    float *s_x = shared;
    float r_n[1];
    const int thread = threadIdx.x;
    for (int step = 0; step < 4; step++) {
        const int block = blockIdx.x * 4 + step;
        if (block * 256 >= count) break;
        const int first = block * 256;
        const int here = min(count - first, 256);

        __syncthreads();  // the load of x writes x, which other threads touched in norm7
        load_block<1792, 256, true>(s_x, x + (size_t)first * 7, here * 7, thread);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // norm7 reads what other threads wrote to x in the load of x
        d_norm7_1_compute_bx256_by1_bz1_sr(s_x, r_n, threadIdx.x);
        save_own<1>(n + first + thread, r_n, 0, thread < here);
    }
}

// pick7, axpby7: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(
    int count, const float *__restrict__ x, const float *__restrict__ n, float *m, float *x_out)
{
    __shared__ __align__(16) float shared[4096];
    float *s_x = shared;
    float *s_n = shared + 3584;
    float *s_m = shared + 3840;
    float *s_x_out = shared + 1792;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1792, 256, true>(s_x, x + (size_t)first * 7, here * 7, thread);
    load_block<256, 256, true>(s_n, n + (size_t)first * 1, here * 1, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // pick7 reads what other threads wrote to x in the load of x
    d_pick7_1_compute_bx256_by1_bz1_sss(s_x, s_n, s_m, threadIdx.x);
    __syncthreads();  // axpby7 reads what other threads wrote to m in pick7
    d_axpby7_1_compute_bx256_by1_bz1_sssss(s_n, s_x, s_m, s_x, s_x_out, threadIdx.x);
    save_block<256, 256, true>(m + (size_t)first * 1, s_m, here * 1, thread);
    __syncthreads();  // the save of x#2 reads what other threads wrote to x#2 in axpby7
    save_block<1792, 256, true>(x_out + (size_t)first * 7, s_x_out, here * 7, thread);
}

// sort4: 256 elements a block.
static __global__ void __launch_bounds__(256) case_5(int count, const float *__restrict__ v, float *v_out)
{
    __shared__ __align__(16) float shared[2048];
    float *s_v = shared;
    float *s_v_out = shared + 1024;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_v, v + (size_t)first * 4, here * 4, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // sort4 reads what other threads wrote to v in the load of v
    d_sort4_1_compute_bx256_by1_bz1_ss(s_v, s_v_out, threadIdx.x);
    __syncthreads();  // the save of v#2 reads what other threads wrote to v#2 in sort4
    save_block<1024, 256, true>(v_out + (size_t)first * 4, s_v_out, here * 4, thread);
}

// inv2, mv2: 256 elements a block.
static __global__ void __launch_bounds__(256) case_6(
    int count, const float *__restrict__ M, const float *__restrict__ d, float *d_out)
{
    __shared__ __align__(16) float shared[1536];
    float *s_M = shared;
    float r_M_2[4];
    float *s_d = shared + 1024;
    float *s_d_out = shared;
    const int thread = threadIdx.x;
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 256 >= count) break;
        const int first = block * 256;
        const int here = min(count - first, 256);

        __syncthreads();  // the load of M writes M where other threads touched d#2 in the save of d#2
        load_block<1024, 256, true>(s_M, M + (size_t)first * 4, here * 4, thread);
        load_block<512, 256, true>(s_d, d + (size_t)first * 2, here * 2, thread);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();  // inv2 reads what other threads wrote to M in the load of M
        inv2::d_inv2_a_compute_bx256_by1_bz1_sr(s_M, r_M_2, threadIdx.x);
        __syncthreads();  // mv2 writes d#2 where other threads touched M in inv2
        d_mv2_b_compute_bx256_by1_bz1_rss(r_M_2, s_d, s_d_out, threadIdx.x);
        __syncthreads();  // the save of d#2 reads what other threads wrote to d#2 in mv2
        save_block<512, 256, true>(d_out + (size_t)first * 2, s_d_out, here * 2, thread);
    }
}

cudaError_t case_1_launch(
    int count, const float *q, const float *u, const float *S, float *u_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, q, u, S, u_out);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *A, float *A_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_2<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, A_out);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *x, float *n, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 1024 + 1, block, 0, stream>>>(count, x, n);
    return cudaGetLastError();
}

cudaError_t case_4_launch(
    int count, const float *x, const float *n, float *m, float *x_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, x, n, m, x_out);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *v, float *v_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_5<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, v, v_out);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *M, const float *d, float *d_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_6<<<(count - 1) / 512 + 1, block, 0, stream>>>(count, M, d, d_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 1 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *u, const float *q, const float *S, const float *A, const float *x, const float *v,
    const float *M, const float *d, float *u_out, float *A_out, float *x_out, float *v_out, float *d_out,
    float *m, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_n = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, q, u, S, u_out, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, A, A_out, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, x, d_n, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, x, d_n, m, x_out, stream);
    if (error != cudaSuccess) return error;
    error = case_5_launch(count, v, v_out, stream);
    if (error != cudaSuccess) return error;
    error = case_6_launch(count, M, d, d_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *u, const float *q, const float *S, const float *A, const float *x, const float *v,
    const float *M, const float *d, float *u_out, float *A_out, float *x_out, float *v_out, float *d_out,
    float *m)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_u = nullptr;
    float *device_q = nullptr;
    float *device_S = nullptr;
    float *device_A = nullptr;
    float *device_x = nullptr;
    float *device_v = nullptr;
    float *device_M = nullptr;
    float *device_d = nullptr;
    float *device_u_out = nullptr;
    float *device_A_out = nullptr;
    float *device_x_out = nullptr;
    float *device_v_out = nullptr;
    float *device_d_out = nullptr;
    float *device_m = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_S, room * 6 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_M, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_d, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A_out, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x_out, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v_out, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_d_out, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_m, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_q, q, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_S, S, (size_t)count * 6 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_M, M, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_d, d, (size_t)count * 2 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_u, device_q, device_S, device_A, device_x, device_v, device_M, device_d, device_u_out, device_A_out, device_x_out, device_v_out, device_d_out, device_m, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(u_out, device_u_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(A_out, device_A_out, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x_out, device_x_out, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(v_out, device_v_out, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(d_out, device_d_out, (size_t)count * 2 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(m, device_m, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_u);
    cudaFree(device_q);
    cudaFree(device_S);
    cudaFree(device_A);
    cudaFree(device_x);
    cudaFree(device_v);
    cudaFree(device_M);
    cudaFree(device_d);
    cudaFree(device_u_out);
    cudaFree(device_A_out);
    cudaFree(device_x_out);
    cudaFree(device_v_out);
    cudaFree(device_d_out);
    cudaFree(device_m);
    cudaFree(workspace);
    return error;
}
