// case: 12 calls of elementary functions in 4 kernels.
// Made for sm_90.

#include <cuda_runtime.h>
#include <math.h>

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

static __device__ __forceinline__ void d_axpy3_1_load_1_bx64_by1_bz1_r(scalar g, float *s, int tx, int bx) { s[0] = g[bx * 64 + tx]; }

static __device__ __forceinline__ void d_axpy3_1_compute_bx64_by1_bz1_rrsr(float *a, float *x, float *y, float *out, int tx) {
    out[0] = a[0] * x[0] + y[tx * 3];
    out[1] = a[0] * x[1] + y[tx * 3 + 1];
    out[2] = a[0] * x[2] + y[tx * 3 + 2];
}

namespace minv33 {

#define AT(i, j) a[(i) * 3 + (j)]
static __device__ __forceinline__ float cofactor(const float *a, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return AT(i1, j1) * AT(i2, j2) - AT(i1, j2) * AT(i2, j1);
}

static __device__ __forceinline__ void d_minv33_1_load_1_bx64_by1_bz1_s(matrix3x3 g, float *s, int tx, int bx) {
    const float *from = g + bx * 64 * 9;
    for (int i = tx; i < 9 * 64; i += 64) s[i] = from[i];
}

static __device__ __forceinline__ void d_minv33_1_compute_bx64_by1_bz1_ss(float *m, float *out, int tx) {
    float a[9];
    for (int i = 0; i < 9; i++) a[i] = m[tx * 9 + i];
    float det = 0.0f;
    for (int j = 0; j < 3; j++) det += AT(0, j) * cofactor(a, 0, j);
    const float r = fabsf(det) > 1e-30f ? 1.0f / det : 0.0f;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[tx * 9 + j * 3 + i] = cofactor(a, i, j) * r;
}

}

#undef AT
static __device__ __forceinline__ void d_mmul33_1_compute_bx64_by1_bz1_ssr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mmul44_z_load_1_bx4_by4_bz32_s(matrix4x4 g, float *s, int tx, int ty, int tz, int by) {
    s[tz * 16 + ty * 4 + tx] = g[by * 16 * 32 + tz * 16 + ty * 4 + tx];
}

static __device__ __forceinline__ void d_mmul44_z_compute_bx4_by4_bz32_sss(float *a, float *b, float *c, int tx, int ty, int tz) {
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) sum += a[tz * 16 + ty * 4 + k] * b[tz * 16 + k * 4 + tx];
    c[tz * 16 + ty * 4 + tx] = sum;
}

static __device__ __forceinline__ void d_mmul44_z_save_bx4_by4_bz32_s(float *s, matrix4x4 g, int tx, int ty, int tz, int by) {
    g[by * 16 * 32 + tz * 16 + ty * 4 + tx] = s[tz * 16 + ty * 4 + tx];
}

static __device__ __forceinline__ void d_mtrace44_1_compute_bx32_by1_bz1_sr(float *a, float *t, int tx) {
    t[0] = a[tx * 16] + a[tx * 16 + 5] + a[tx * 16 + 10] + a[tx * 16 + 15];
}

static __device__ __forceinline__ void d_mtrace44_1_save_bx32_by1_bz1_r(float *s, scalar g, int tx, int bx) { g[bx * 32 + tx] = s[0]; }

static __device__ __forceinline__ void d_mtrans33_a_compute_bx3_by64_bz1_ss(float *in, float *out, int tx, int ty) {
    // row tx of the result is column tx of the input
    for (int i = 0; i < 3; ++i) out[ty * 9 + tx * 3 + i] = in[ty * 9 + i * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_1_load_2_bx64_by1_bz1_s(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * 64 + tx] = block_v[i * 64 + tx];
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx64_by1_bz1_rsr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[tx * 3 + k];
        w[i] = sum;
    }
}

static __device__ __forceinline__ void d_qmul_v_load_1_bx96_by1_bz1_s(quaternion g, float *s, int tx, int bx) {
    *(float4 *)(s + tx * 4) = *(const float4 *)(g + (bx * 96 + tx) * 4);
}

static __device__ __forceinline__ void d_qmul_v_compute_bx96_by1_bz1_sss(float *p, float *q, float *r, int tx) {
    const float *a = p + tx * 4, *b = q + tx * 4;
    float *c = r + tx * 4;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static __device__ __forceinline__ void d_qmul_v_save_bx96_by1_bz1_s(float *s, quaternion g, int tx, int bx) {
    *(float4 *)(g + (bx * 96 + tx) * 4) = *(const float4 *)(s + tx * 4);
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx64_by1_bz1_rrr(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = s[0] * A[i];
}

static __device__ __forceinline__ void d_smmul33_1_load_2_bx64_by1_bz1_r(scalar s, float *s_s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    s_s[0] = block_s[tx];
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx64_by1_bz1_rrs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[i];
}

static __device__ __forceinline__ void d_smmul33_1_save_bx64_by1_bz1_s(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * 64 + tx] = s_C[i * 64 + tx];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx64_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

namespace vsoft7 {

static __device__ float cofactor(float x) { return expf(x); }

static __device__ __forceinline__ void d_vsoft7_1_load_1_bx64_by1_bz1_s(vector7 g, float *s, int tx, int bx) {
    for (int i = 0; i < 7; i++) s[i * 64 + tx] = g[(size_t)bx * 7 * 64 + i * 64 + tx];
}

static __device__ __forceinline__ void d_vsoft7_1_compute_bx64_by1_bz1_ss(float *__restrict__ in, float *__restrict__ out, int tx) {
    float most = in[tx * 7];
    for (int i = 1; i < 7; i++) if (in[tx * 7 + i] > most) most = in[tx * 7 + i];
    float sum = 0.0f;
    int k = 0;
    while (k < 7) { const float e = cofactor(in[tx * 7 + k] - most); out[tx * 7 + k] = e; sum += e; k++; }
    for (int i = 0; i < 7; i++) out[tx * 7 + i] /= sum;
}

static __device__ __forceinline__ void d_vsoft7_1_save_bx64_by1_bz1_s(float *s, vector7 g, int tx, int bx) {
    for (int i = 0; i < 7; i++) g[(size_t)bx * 7 * 64 + i * 64 + tx] = s[i * 64 + tx];
}

}

// vsoft7: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(int count, float *a, float *b)
{
    __shared__ __align__(16) float shared[896];
    float *s_a = shared;
    float *s_b = shared + 448;

    vsoft7::d_vsoft7_1_load_1_bx64_by1_bz1_s(a, s_a, threadIdx.x, blockIdx.x);
    __syncthreads();  // vsoft7 reads what other threads wrote to a in the load of a
    vsoft7::d_vsoft7_1_compute_bx64_by1_bz1_ss(s_a, s_b, threadIdx.x);
    __syncthreads();  // the save of b reads what other threads wrote to b in vsoft7
    vsoft7::d_vsoft7_1_save_bx64_by1_bz1_s(s_b, b, threadIdx.x, blockIdx.x);
}

// mmul44, mtrace44: 32 elements a block.
static __global__ void __launch_bounds__(512) case_2(int count, float *K, float *L, float *s_2)
{
    __shared__ __align__(16) float shared[1024];
    float *s_K = shared;
    float *s_L = shared + 512;
    float r_s_2[1];
    const int thread = threadIdx.x + 4 * (threadIdx.y + 4 * threadIdx.z);

    d_mmul44_z_load_1_bx4_by4_bz32_s(K, s_K, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    __syncthreads();  // mmul44 reads what other threads wrote to K in the load of K
    d_mmul44_z_compute_bx4_by4_bz32_sss(s_K, s_K, s_L, threadIdx.x, threadIdx.y, threadIdx.z);
    d_mmul44_z_save_bx4_by4_bz32_s(s_L, L, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x);
    __syncthreads();  // mtrace44 reads what other threads wrote to L in mmul44
    if (thread < 32) d_mtrace44_1_compute_bx32_by1_bz1_sr(s_L, r_s_2, thread);
    if (thread < 32) d_mtrace44_1_save_bx32_by1_bz1_r(r_s_2, s_2, thread, blockIdx.x);
}

// minv33, mtrans33, mmul33, mvmul33, axpy3, venorm3, smmul33, smmul33: 64 elements a block.
static __global__ void __launch_bounds__(192) case_3(
    int count, float *A, float *u, float *s, float *s_2, float *M)
{
    __shared__ __align__(16) float shared[1152];
    float *s_A = shared;
    float *s_B = shared + 576;
    float *s_M_2 = shared;
    float r_M_3[9];
    float *s_u = shared;
    float r_v[3];
    float r_s[1];
    float r_w[3];
    float r_t[1];
    float r_M_4[9];
    float r_s_2[1];
    float *s_M = shared;
    const int thread = threadIdx.x + 3 * threadIdx.y;

    if (thread < 64) minv33::d_minv33_1_load_1_bx64_by1_bz1_s(A, s_A, thread, blockIdx.x);
    __syncthreads();  // minv33 reads what other threads wrote to A in the load of A
    if (thread < 64) minv33::d_minv33_1_compute_bx64_by1_bz1_ss(s_A, s_B, thread);
    __syncthreads();  // mtrans33 writes M where other threads touched A in minv33
    d_mtrans33_a_compute_bx3_by64_bz1_ss(s_B, s_M_2, threadIdx.x, threadIdx.y);
    __syncthreads();  // mmul33 reads what other threads wrote to M in mtrans33
    if (thread < 64) d_mmul33_1_compute_bx64_by1_bz1_ssr(s_M_2, s_B, r_M_3, thread);
    __syncthreads();  // the load of u writes u where other threads touched M in mmul33
    if (thread < 64) d_mvmul33_1_load_2_bx64_by1_bz1_s(u, s_u, thread, blockIdx.x);
    __syncthreads();  // mvmul33 reads what other threads wrote to u in the load of u
    if (thread < 64) d_mvmul33_1_compute_bx64_by1_bz1_rsr(r_M_3, s_u, r_v, thread);
    if (thread < 64) d_axpy3_1_load_1_bx64_by1_bz1_r(s, r_s, thread, blockIdx.x);
    if (thread < 64) d_axpy3_1_compute_bx64_by1_bz1_rrsr(r_s, r_v, s_u, r_w, thread);
    if (thread < 64) d_venorm3_1_compute_bx64_by1_bz1_rr(r_w, r_t, thread);
    if (thread < 64) d_smmul33_1_compute_bx64_by1_bz1_rrr(r_M_3, r_t, r_M_4, thread);
    if (thread < 64) d_smmul33_1_load_2_bx64_by1_bz1_r(s_2, r_s_2, thread, blockIdx.x);
    __syncthreads();  // smmul33 writes M#4 where other threads touched u in mvmul33
    if (thread < 64) d_smmul33_1_compute_bx64_by1_bz1_rrs(r_M_4, r_s_2, s_M, thread);
    __syncthreads();  // the save of M#4 reads what other threads wrote to M#4 in smmul33
    if (thread < 64) d_smmul33_1_save_bx64_by1_bz1_s(s_M, M, thread, blockIdx.x);
}

// qmul: 96 elements a block.
static __global__ void __launch_bounds__(96) case_4(int count, float *p, float *q)
{
    __shared__ __align__(16) float shared[768];
    float *s_p = shared;
    float *s_q = shared + 384;

    d_qmul_v_load_1_bx96_by1_bz1_s(p, s_p, threadIdx.x, blockIdx.x);
    d_qmul_v_compute_bx96_by1_bz1_sss(s_p, s_p, s_q, threadIdx.x);
    d_qmul_v_save_bx96_by1_bz1_s(s_q, q, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *a, float *b, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(a), b);
    return cudaGetLastError();
}

cudaError_t case_2_launch(int count, const float *K, float *L, float *s_2, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(4, 4, 32);
    case_2<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, const_cast<float *>(K), L, s_2);
    return cudaGetLastError();
}

cudaError_t case_3_launch(
    int count, const float *A, const float *u, const float *s, const float *s_2, float *M,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 64, 1);
    case_3<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(u), const_cast<float *>(s), const_cast<float *>(s_2), M);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *p, float *q, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(96, 1, 1);
    case_4<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, const_cast<float *>(p), q);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 99) / 4 * 4 * 1 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *u, const float *a, const float *K, const float *p, const float *s,
    float *M, float *b, float *L, float *q, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    float *d_s_2 = workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, b, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, K, L, d_s_2, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, A, u, s, d_s_2, M, stream);
    if (error != cudaSuccess) return error;
    error = case_4_launch(count, p, q, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *A, const float *u, const float *a, const float *K, const float *p, const float *s,
    float *M, float *b, float *L, float *q)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 99) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_u = nullptr;
    float *device_a = nullptr;
    float *device_K = nullptr;
    float *device_p = nullptr;
    float *device_s = nullptr;
    float *device_M = nullptr;
    float *device_b = nullptr;
    float *device_L = nullptr;
    float *device_q = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_K, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_p, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_M, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_L, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_u, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_a, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_K, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_p, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_M, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_b, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_L, 0, room * 16 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_q, 0, room * 4 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_K, K, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_p, p, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_u, device_a, device_K, device_p, device_s, device_M, device_b, device_L, device_q, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(M, device_M, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(b, device_b, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(L, device_L, (size_t)count * 16 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(q, device_q, (size_t)count * 4 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_u);
    cudaFree(device_a);
    cudaFree(device_K);
    cudaFree(device_p);
    cudaFree(device_s);
    cudaFree(device_M);
    cudaFree(device_b);
    cudaFree(device_L);
    cudaFree(device_q);
    cudaFree(workspace);
    return error;
}
