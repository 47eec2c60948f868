// case: 9 calls of elementary functions in 6 kernels.
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

static __device__ __forceinline__ void d_axpby7_1_compute_bx64_by1_bz1_sssss(float *a, float *x, float *b, float *y, float *r, int tx)
{
    for (int i = 0; i < 7; i++) r[(tx * 7) + i] = a[(tx)] * x[(tx * 7) + i] + b[(tx)] * y[(tx * 7) + i];
}

static __device__ __forceinline__ void d_axpby7_1_save_bx64_by1_bz1_s(float *s, vec7 x, int tx, int bx)
{
    for (int i = 0; i < 7; i++) x[bx * 7 * 64 + tx + i * 64] = s[(tx) + i * 64];
}

namespace inv2 {

__device__ inline two halves(const float *m) { two t; t.a = m[0] * m[3]; t.b = m[1] * m[2]; return t; }

static __device__ __forceinline__ void d_inv2_a_load_1_bx64_by1_bz1_r(mat2 m, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 4; i++) s[i] = m[(bx * 64 + tx) * 4 + i];
}

static __device__ __forceinline__ void d_inv2_a_compute_bx64_by1_bz1_rr(float *m, float *r, int tx)
{
    two t = halves(m + 0);
    float d = 1.0f / (t.a - t.b + 2.0f);
    r[0] = m[3] * d;
    r[1] = -m[1] * d;
    r[2] = -m[2] * d;
    r[3] = m[0] * d;
}

}

#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]

static __device__ __forceinline__ void d_mul4_1_load_1_bx64_by1_bz1_s(mat4 a, float *s, int tx, int bx)
{
    for (int r = 0; r < 4; r++) *(float4 *)(s + tx * 16 + r * 4) = *(const float4 *)(a + (bx * 64 + tx) * 16 + r * 4);
}

static __device__ __forceinline__ void d_mul4_1_compute_bx64_by1_bz1_sss(float *a, float *b, float *c, int tx)
{
    a += tx * 16;
    b += tx * 16;
    c += tx * 16;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            AT(c, i, j) = AT(a, i, 0) * AT(b, 0, j) + AT(a, i, 1) * AT(b, 1, j) + AT(a, i, 2) * AT(b, 2, j) + AT(a, i, 3) * AT(b, 3, j);
}

static __device__ __forceinline__ void d_mul4_1_save_bx64_by1_bz1_s(float *s, mat4 a, int tx, int bx)
{
    for (int r = 0; r < 4; r++) *(float4 *)(a + (bx * 64 + tx) * 16 + r * 4) = *(const float4 *)(s + tx * 16 + r * 4);
}

#undef N4
#undef AT
static __device__ __forceinline__ void d_mv2_b_load_2_bx64_by1_bz1_r(vec2 m, float *s, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 2; i++) s[i] = m[(bx * 64 + tx) * 2 + i];
}

static __device__ __forceinline__ void d_mv2_b_compute_bx64_by1_bz1_rrr(float *m, float *v, float *r, int tx)
{
    float x = v[0], y = v[1];
    int k = 0;
    while (k < 2) {
        r[k] = m[k * 2] * x + m[k * 2 + 1] * y;
        k++;
    }
}

static __device__ __forceinline__ void d_mv2_b_save_bx64_by1_bz1_r(float *s, vec2 m, int tx, int bx)
{
    #pragma unroll
    for (int i = 0; i < 2; i++) m[(bx * 64 + tx) * 2 + i] = s[i];
}

static __device__ __forceinline__ void d_norm7_1_load_1_bx64_by1_bz1_s(vec7 x, float *s, int tx, int bx)
{
    for (int i = tx; i < 7 * 64; i += 64) s[i] = x[bx * 7 * 64 + i];
}

static __device__ __forceinline__ void d_norm7_1_compute_bx64_by1_bz1_sr(float *x, float *n, int tx)
{
    n[0] = sqrtf(dotn<7>(x + tx * 7, x + tx * 7));
}

static __device__ __forceinline__ void d_norm7_1_save_bx64_by1_bz1_r(float *s, real n, int tx, int bx) { n[bx * 64 + tx] = s[0]; }

static __device__ __forceinline__ void d_pick7_1_load_1_bx64_by1_bz1_s(vec7 x, float *s, int tx, int bx)
{
    for (int i = 0; i < 7; i++) s[tx * 7 + i] = x[(bx * 64 + tx) * 7 + i];
}

static __device__ __forceinline__ void d_pick7_1_load_2_bx64_by1_bz1_s(real x, float *s, int tx, int bx) { s[tx] = x[bx * 64 + tx]; }

static __device__ __forceinline__ void d_pick7_1_compute_bx64_by1_bz1_sss(float *x, float *w, float *r, int tx)
{
    int k = (int)(w[tx] * 5.0f) % 7;
    k = k < 0 ? 0 : k;
    r[tx] = x[tx * 7 + k];
}

static __device__ __forceinline__ void d_pick7_1_save_bx64_by1_bz1_s(float *s, real x, int tx, int bx) { x[bx * 64 + tx] = s[tx]; }

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

}

#define SWAP(a, b) do { if (t[a] > t[b]) { float z = t[a]; t[a] = t[b]; t[b] = z; } } while (0)

static __device__ __forceinline__ void d_sort4_1_load_1_bx96_by1_bz1_s(vec4 m, float *s, int tx, int bx)
{
    float4 *to = (float4 *)s;
    const float4 *from = (const float4 *)m + bx * 96;
    to[tx] = from[tx];
}

static __device__ __forceinline__ void d_sort4_1_compute_bx96_by1_bz1_ss(float *v, float *r, int tx)
{
    float t[4];
    for (int i = 0; i < 4; i++) t[i] = v[4 * tx + i];
    SWAP(0, 1); SWAP(2, 3); SWAP(0, 2); SWAP(1, 3); SWAP(1, 2);
    for (int i = 0; i < 4; i++) r[4 * tx + i] = t[i];
}

static __device__ __forceinline__ void d_sort4_1_save_bx96_by1_bz1_s(float *s, vec4 m, int tx, int bx)
{
    ((float4 *)m)[bx * 96 + tx] = ((float4 *)s)[tx];
}

#undef SWAP
namespace symv {

__device__ const int place[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
static const int host_place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

static __device__ __forceinline__ void d_symv_1_load_1_bx64_by1_bz1_s(sym3 m, float *s, int tx, int bx)
{
    for (int i = 0; i < 6; i++) s[tx * 6 + i] = m[bx * 64 * 6 + tx * 6 + i];
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

// qrot, symv: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *q, float *u, float *S, float *u_out)
{
    __shared__ __align__(16) float shared[768];
    float r_q[4];
    float r_u[3];
    float *s_u_2 = shared + 384;
    float *s_S = shared;
    float *s_u_out = shared + 576;

    qrot::d_qrot_1_load_1_bx64_by1_bz1_r(q, r_q, threadIdx.x, blockIdx.x);
    qrot::d_qrot_1_load_2_bx64_by1_bz1_r(u, r_u, threadIdx.x, blockIdx.x);
    qrot::d_qrot_1_compute_bx64_by1_bz1_rrs(r_q, r_u, s_u_2, threadIdx.x);
    symv::d_symv_1_load_1_bx64_by1_bz1_s(S, s_S, threadIdx.x, blockIdx.x);
    __syncthreads();  // symv reads what other threads wrote to u#2 in qrot
    symv::d_symv_1_compute_bx64_by1_bz1_sss(s_S, s_u_2, s_u_out, threadIdx.x);
    __syncthreads();  // the save of u#3 reads what other threads wrote to u#3 in symv
    symv::d_symv_1_save_bx64_by1_bz1_s(s_u_out, u_out, threadIdx.x, blockIdx.x);
}

// mul4: 64 elements a block.
static __global__ void __launch_bounds__(64) case_2(int count, float *A, float *A_out)
{
    __shared__ __align__(16) float shared[2048];
    float *s_A = shared;
    float *s_A_out = shared + 1024;

    d_mul4_1_load_1_bx64_by1_bz1_s(A, s_A, threadIdx.x, blockIdx.x);
    d_mul4_1_compute_bx64_by1_bz1_sss(s_A, s_A, s_A_out, threadIdx.x);
    d_mul4_1_save_bx64_by1_bz1_s(s_A_out, A_out, threadIdx.x, blockIdx.x);
}

// norm7: 64 elements a block.
static __global__ void __launch_bounds__(64) case_3(int count, float *x, float *n)
{
    __shared__ __align__(16) float shared[448];
    float *s_x = shared;
    float r_n[1];
    for (int step = 0; step < 4; step++) {
        const int block = blockIdx.x * 4 + step;
        if (block * 64 >= count) break;

        __syncthreads();  // the load of x writes x, which other threads touched in norm7
        d_norm7_1_load_1_bx64_by1_bz1_s(x, s_x, threadIdx.x, block);
        __syncthreads();  // norm7 reads what other threads wrote to x in the load of x
        d_norm7_1_compute_bx64_by1_bz1_sr(s_x, r_n, threadIdx.x);
        d_norm7_1_save_bx64_by1_bz1_r(r_n, n, threadIdx.x, block);
    }
}

// pick7, axpby7: 64 elements a block.
static __global__ void __launch_bounds__(64) case_4(int count, float *x, float *n, float *m, float *x_out)
{
    __shared__ __align__(16) float shared[1024];
    float *s_x = shared;
    float *s_n = shared + 896;
    float *s_m = shared + 960;
    float *s_x_out = shared + 448;

    d_pick7_1_load_1_bx64_by1_bz1_s(x, s_x, threadIdx.x, blockIdx.x);
    d_pick7_1_load_2_bx64_by1_bz1_s(n, s_n, threadIdx.x, blockIdx.x);
    __syncthreads();  // pick7 reads what other threads wrote to x in the load of x
    d_pick7_1_compute_bx64_by1_bz1_sss(s_x, s_n, s_m, threadIdx.x);
    __syncthreads();  // the save of m reads what other threads wrote to m in pick7
    d_pick7_1_save_bx64_by1_bz1_s(s_m, m, threadIdx.x, blockIdx.x);
    d_axpby7_1_compute_bx64_by1_bz1_sssss(s_n, s_x, s_m, s_x, s_x_out, threadIdx.x);
    __syncthreads();  // the save of x#2 reads what other threads wrote to x#2 in axpby7
    d_axpby7_1_save_bx64_by1_bz1_s(s_x_out, x_out, threadIdx.x, blockIdx.x);
}

// sort4: 96 elements a block.
static __global__ void __launch_bounds__(96) case_5(int count, float *v, float *v_out)
{
    __shared__ __align__(16) float shared[768];
    float *s_v = shared;
    float *s_v_out = shared + 384;

    d_sort4_1_load_1_bx96_by1_bz1_s(v, s_v, threadIdx.x, blockIdx.x);
    d_sort4_1_compute_bx96_by1_bz1_ss(s_v, s_v_out, threadIdx.x);
    d_sort4_1_save_bx96_by1_bz1_s(s_v_out, v_out, threadIdx.x, blockIdx.x);
}

// inv2, mv2: 64 elements a block.
static __global__ void __launch_bounds__(64) case_6(int count, float *M, float *d, float *d_out)
{
    float r_M[4];
    float r_M_2[4];
    float r_d[2];
    float r_d_out[2];
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 64 >= count) break;

        inv2::d_inv2_a_load_1_bx64_by1_bz1_r(M, r_M, threadIdx.x, block);
        inv2::d_inv2_a_compute_bx64_by1_bz1_rr(r_M, r_M_2, threadIdx.x);
        d_mv2_b_load_2_bx64_by1_bz1_r(d, r_d, threadIdx.x, block);
        d_mv2_b_compute_bx64_by1_bz1_rrr(r_M_2, r_d, r_d_out, threadIdx.x);
        d_mv2_b_save_bx64_by1_bz1_r(r_d_out, d_out, threadIdx.x, block);
    }
}

cudaError_t case_1_launch(
    int count, const float *q, const float *u, const float *S, float *u_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(q), const_cast<float *>(u), const_cast<float *>(S), u_out);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *A, float *A_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_2<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(A), A_out);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *x, float *n, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, const_cast<float *>(x), n);
    return cudaGetLastError();
}

cudaError_t case_4_launch(
    int count, const float *x, const float *n, float *m, float *x_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_4<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(x), const_cast<float *>(n), m, x_out);
    return cudaGetLastError();
}

cudaError_t case_5_launch(int count, const float *v, float *v_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(96, 1, 1);
    case_5<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, const_cast<float *>(v), v_out);
    return cudaGetLastError();
}

cudaError_t case_6_launch(int count, const float *M, const float *d, float *d_out, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_6<<<(count - 1) / 128 + 1, block, 0, stream>>>(count, const_cast<float *>(M), const_cast<float *>(d), d_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 99) / 4 * 4 * 1 * sizeof(float);
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
    const size_t room = ((size_t)count + 99) / 4 * 4;
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
    if (error == cudaSuccess) error = cudaMemset(device_u, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_q, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_S, 0, room * 6 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_M, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_d, 0, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_u_out, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_A_out, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x_out, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_v_out, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_d_out, 0, room * 2 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_m, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
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
