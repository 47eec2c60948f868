// case: 12 calls of elementary functions in 4 kernels.
// Made for sm_90.

#include <cuda_runtime.h>
#include <cuda_pipeline.h>
#include <math.h>

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

// Brings the floats of an element to the registers of its thread; they stand `pitch` floats apart.
template <int SIZE>
static __device__ __forceinline__ void load_own(float *own, const float *global, size_t pitch)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) own[k] = __ldcs(global);
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

static __device__ __forceinline__ void d_axpy3_1_compute_bx32_by1_bz1_rssr(float *a, float *x, float *y, float *out, int tx) {
    out[0] = a[0] * x[tx * 3] + y[tx * 3];
    out[1] = a[0] * x[tx * 3 + 1] + y[tx * 3 + 1];
    out[2] = a[0] * x[tx * 3 + 2] + y[tx * 3 + 2];
}

namespace minv33 {

#define AT(i, j) a[(i) * 3 + (j)]
static __device__ __forceinline__ float cofactor(const float *a, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return AT(i1, j1) * AT(i2, j2) - AT(i1, j2) * AT(i2, j1);
}

static __device__ __forceinline__ void d_minv33_1_compute_bx256_by1_bz1_ss(float *m, float *out, int tx) {
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
static __device__ __forceinline__ void d_mmul33_2_compute_bx3_by256_bz1_rss(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[k] * B[ty * 9 + k * 3 + j];
        C[ty * 9 + tx * 3 + j] = sum;
    }
}

static __device__ __forceinline__ void d_mmul44_z_compute_bx4_by4_bz32_sss(float *a, float *b, float *c, int tx, int ty, int tz) {
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) sum += a[tz * 16 + ty * 4 + k] * b[tz * 16 + k * 4 + tx];
    c[tz * 16 + ty * 4 + tx] = sum;
}

static __device__ __forceinline__ void d_mtrace44_1_compute_bx32_by1_bz1_sr(float *a, float *t, int tx) {
    t[0] = a[tx * 16] + a[tx * 16 + 5] + a[tx * 16 + 10] + a[tx * 16 + 15];
}

static __device__ __forceinline__ void d_mtrans33_a_compute_bx3_by256_bz1_sr(float *in, float *out, int tx, int ty) {
    // row tx of the result is column tx of the input
    #pragma unroll
    for (int i = 0; i < 3; ++i) out[i] = in[ty * 9 + i * 3 + tx];
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_sss(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[tx * 9 + i * 3 + k] * v[tx * 3 + k];
        w[tx * 3 + i] = sum;
    }
}

static __device__ __forceinline__ void d_qmul_v_compute_bx256_by1_bz1_sss(float *p, float *q, float *r, int tx) {
    const float *a = p + tx * 4, *b = q + tx * 4;
    float *c = r + tx * 4;
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx32_by1_bz1_srr(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = s[0] * A[tx * 9 + i];
}

static __device__ __forceinline__ void d_smmul33_1_compute_bx32_by1_bz1_rrs(float *A, float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = s[0] * A[i];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx32_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

namespace vsoft7 {

static __device__ float cofactor(float x) { return expf(x); }

static __device__ __forceinline__ void d_vsoft7_1_compute_bx256_by1_bz1_ss(float *__restrict__ in, float *__restrict__ out, int tx) {
    float most = in[tx * 7];
    for (int i = 1; i < 7; i++) if (in[tx * 7 + i] > most) most = in[tx * 7 + i];
    float sum = 0.0f;
    int k = 0;
    while (k < 7) { const float e = cofactor(in[tx * 7 + k] - most); out[tx * 7 + k] = e; sum += e; k++; }
    for (int i = 0; i < 7; i++) out[tx * 7 + i] /= sum;
}

}

// minv33, mtrans33, mmul33, mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(768) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ u, float *M_3, float *v)
{
    __shared__ __align__(16) float shared[5376];
    float *s_A = shared;
    float *s_B = shared + 2304;
    float r_M_2[3];
    float *s_M_3 = shared;
    float *s_u = shared + 4608;
    float *s_v = shared + 2304;
    const int thread = threadIdx.x + 3 * threadIdx.y;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<2304, 768, true>(s_A, A + (size_t)first * 9, here * 9, thread);
    load_block<768, 768, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // minv33 reads what other threads wrote to A in the load of A
    if (thread < 256) minv33::d_minv33_1_compute_bx256_by1_bz1_ss(s_A, s_B, thread);
    __syncthreads();  // mtrans33 reads what other threads wrote to B in minv33
    d_mtrans33_a_compute_bx3_by256_bz1_sr(s_B, r_M_2, threadIdx.x, threadIdx.y);
    d_mmul33_2_compute_bx3_by256_bz1_rss(r_M_2, s_B, s_M_3, threadIdx.x, threadIdx.y);
    __syncthreads();  // mvmul33 writes v where other threads touched B in mtrans33
    if (thread < 256) d_mvmul33_1_compute_bx256_by1_bz1_sss(s_M_3, s_u, s_v, thread);
    save_block<2304, 768, true>(M_3 + (size_t)first * 9, s_M_3, here * 9, thread);
    __syncthreads();  // the save of v reads what other threads wrote to v in mvmul33
    save_block<768, 768, true>(v + (size_t)first * 3, s_v, here * 3, thread);
}

// axpy3, venorm3, smmul33, mmul44, mtrace44, smmul33: 32 elements a block.
static __global__ void __launch_bounds__(512) case_2(
    int count, const float *__restrict__ s, const float *__restrict__ v, const float *__restrict__ u,
    const float *__restrict__ K, const float *__restrict__ M_3, float *L, float *M)
{
    __shared__ __align__(16) float shared[1024];
    float r_s[1];
    float *s_v = shared + 800;
    float *s_u = shared + 896;
    float r_w[3];
    float r_t[1];
    float *s_K = shared;
    float *s_L = shared + 512;
    float r_s_2[1];
    float *s_M_3 = shared + 512;
    float r_M_4[9];
    float *s_M = shared;
    const int thread = threadIdx.x + 4 * (threadIdx.y + 4 * threadIdx.z);
    const int first = blockIdx.x * 32;
    const int here = min(count - first, 32);

    load_own<1>(r_s, s + first + min(thread, here - 1), 0);
    load_block<96, 512, true>(s_v, v + (size_t)first * 3, here * 3, thread);
    load_block<96, 512, true>(s_u, u + (size_t)first * 3, here * 3, thread);
    load_block<512, 512, true>(s_K, K + (size_t)first * 16, here * 16, thread);
    load_block<288, 512, true>(s_M_3, M_3 + (size_t)first * 9, here * 9, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // axpy3 reads what other threads wrote to v in the load of v
    if (thread < 32) d_axpy3_1_compute_bx32_by1_bz1_rssr(r_s, s_v, s_u, r_w, thread);
    if (thread < 32) d_venorm3_1_compute_bx32_by1_bz1_rr(r_w, r_t, thread);
    if (thread < 32) d_smmul33_1_compute_bx32_by1_bz1_srr(s_M_3, r_t, r_M_4, thread);
    __syncthreads();  // mmul44 writes L where other threads touched v in axpy3
    d_mmul44_z_compute_bx4_by4_bz32_sss(s_K, s_K, s_L, threadIdx.x, threadIdx.y, threadIdx.z);
    __syncthreads();  // mtrace44 reads what other threads wrote to L in mmul44
    if (thread < 32) d_mtrace44_1_compute_bx32_by1_bz1_sr(s_L, r_s_2, thread);
    if (thread < 32) d_smmul33_1_compute_bx32_by1_bz1_rrs(r_M_4, r_s_2, s_M, thread);
    save_block<512, 512, true>(L + (size_t)first * 16, s_L, here * 16, thread);
    __syncthreads();  // the save of M#4 reads what other threads wrote to M#4 in smmul33
    save_block<288, 512, true>(M + (size_t)first * 9, s_M, here * 9, thread);
}

// vsoft7: 256 elements a block.
static __global__ void __launch_bounds__(256) case_3(int count, const float *__restrict__ a, float *b)
{
    __shared__ __align__(16) float shared[3584];
    float *s_a = shared;
    float *s_b = shared + 1792;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1792, 256, true>(s_a, a + (size_t)first * 7, here * 7, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // vsoft7 reads what other threads wrote to a in the load of a
    vsoft7::d_vsoft7_1_compute_bx256_by1_bz1_ss(s_a, s_b, threadIdx.x);
    __syncthreads();  // the save of b reads what other threads wrote to b in vsoft7
    save_block<1792, 256, true>(b + (size_t)first * 7, s_b, here * 7, thread);
}

// qmul: 256 elements a block.
static __global__ void __launch_bounds__(256) case_4(int count, const float *__restrict__ p, float *q)
{
    __shared__ __align__(16) float shared[2048];
    float *s_p = shared;
    float *s_q = shared + 1024;
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_block<1024, 256, true>(s_p, p + (size_t)first * 4, here * 4, thread);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // qmul reads what other threads wrote to p in the load of p
    d_qmul_v_compute_bx256_by1_bz1_sss(s_p, s_p, s_q, threadIdx.x);
    __syncthreads();  // the save of q reads what other threads wrote to q in qmul
    save_block<1024, 256, true>(q + (size_t)first * 4, s_q, here * 4, thread);
}

cudaError_t case_1_launch(
    int count, const float *A, const float *u, float *M_3, float *v, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 256, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, u, M_3, v);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *s, const float *v, const float *u, const float *K, const float *M_3, float *L,
    float *M, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(4, 4, 32);
    case_2<<<(count - 1) / 32 + 1, block, 0, stream>>>(count, s, v, u, K, M_3, L, M);
    return cudaGetLastError();
}

cudaError_t case_3_launch(int count, const float *a, float *b, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_3<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, a, b);
    return cudaGetLastError();
}

cudaError_t case_4_launch(int count, const float *p, float *q, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_4<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, p, q);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    if (count <= 0) return 0;
    return ((size_t)count + 3) / 4 * 4 * 12 * sizeof(float);
}

cudaError_t case_launch(
    int count, const float *A, const float *u, const float *a, const float *K, const float *p, const float *s,
    float *M, float *b, float *L, float *q, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    float *d_M_3 = workspace;
    float *d_v = workspace + room * 9;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, u, d_M_3, d_v, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, s, d_v, u, K, d_M_3, L, M, stream);
    if (error != cudaSuccess) return error;
    error = case_3_launch(count, a, b, stream);
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
    const size_t room = ((size_t)count + 3) / 4 * 4;
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
