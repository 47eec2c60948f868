// case: 4 calls of elementary functions in 1 kernel.
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

static __device__ __forceinline__ void d_axpby7_1_load_1_bx64_by1_bz1_r(real a, float *s, int tx, int bx) { s[0] = a[bx * 64 + tx]; }

static __device__ __forceinline__ void d_axpby7_1_load_2_bx64_by1_bz1_s(vec7 x, float *s, int tx, int bx)
{
    for (int i = 0; i < 7; i++) s[(tx) + i * 64] = x[bx * 7 * 64 + tx + i * 64];
}

static __device__ __forceinline__ void d_axpby7_1_compute_bx64_by1_bz1_rsrsr(float *a, float *x, float *b, float *y, float *r, int tx)
{
    #pragma unroll
    for (int i = 0; i < 7; i++) r[0 + i] = a[0] * x[(tx * 7) + i] + b[0] * y[(tx * 7) + i];
}

static __device__ __forceinline__ void d_axpby7_1_compute_bx64_by1_bz1_rrrrr(float *a, float *x, float *b, float *y, float *r, int tx)
{
    #pragma unroll
    for (int i = 0; i < 7; i++) r[0 + i] = a[0] * x[0 + i] + b[0] * y[0 + i];
}

static __device__ __forceinline__ void d_axpby7_1_compute_bx64_by1_bz1_rsrrs(float *a, float *x, float *b, float *y, float *r, int tx)
{
    #pragma unroll
    for (int i = 0; i < 7; i++) r[(tx * 7) + i] = a[0] * x[(tx * 7) + i] + b[0] * y[0 + i];
}

static __device__ __forceinline__ void d_axpby7_1_save_bx64_by1_bz1_s(float *s, vec7 x, int tx, int bx)
{
    for (int i = 0; i < 7; i++) x[bx * 7 * 64 + tx + i * 64] = s[(tx) + i * 64];
}

static __device__ __forceinline__ void d_norm7_1_compute_bx64_by1_bz1_rr(float *x, float *n, int tx)
{
    n[0] = sqrtf(dotn<7>(x + 0, x + 0));
}

static __device__ __forceinline__ void d_norm7_1_save_bx64_by1_bz1_r(float *s, real n, int tx, int bx) { n[bx * 64 + tx] = s[0]; }

// axpby7, axpby7, norm7, axpby7: 64 elements a block.
static __global__ void __launch_bounds__(64) case_1(
    int count, float *a, float *x, float *b, float *y, float *n, float *x_out)
{
    __shared__ __align__(16) float shared[896];
    float r_a[1];
    float *s_x = shared;
    float r_b[1];
    float *s_y = shared + 448;
    float r_z[7];
    float r_z_2[7];
    float r_n[1];
    float *s_x_out = shared + 448;
    for (int step = 0; step < 4; step++) {
        const int block = blockIdx.x * 4 + step;
        if (block * 64 >= count) break;

        d_axpby7_1_load_1_bx64_by1_bz1_r(a, r_a, threadIdx.x, block);
        d_axpby7_1_load_2_bx64_by1_bz1_s(x, s_x, threadIdx.x, block);
        d_axpby7_1_load_1_bx64_by1_bz1_r(b, r_b, threadIdx.x, block);
        d_axpby7_1_load_2_bx64_by1_bz1_s(y, s_y, threadIdx.x, block);
        __syncthreads();  // axpby7 reads what other threads wrote to x in the load of x
        d_axpby7_1_compute_bx64_by1_bz1_rsrsr(r_a, s_x, r_b, s_y, r_z, threadIdx.x);
        d_axpby7_1_compute_bx64_by1_bz1_rrrrr(r_a, r_z, r_a, r_z, r_z_2, threadIdx.x);
        d_norm7_1_compute_bx64_by1_bz1_rr(r_z_2, r_n, threadIdx.x);
        d_norm7_1_save_bx64_by1_bz1_r(r_n, n, threadIdx.x, block);
        d_axpby7_1_compute_bx64_by1_bz1_rsrrs(r_n, s_x, r_n, r_z_2, s_x_out, threadIdx.x);
        __syncthreads();  // the save of x#2 reads what other threads wrote to x#2 in axpby7
        d_axpby7_1_save_bx64_by1_bz1_s(s_x_out, x_out, threadIdx.x, block);
    }
}

cudaError_t case_1_launch(
    int count, const float *a, const float *x, const float *b, const float *y, float *n, float *x_out,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, const_cast<float *>(a), const_cast<float *>(x), const_cast<float *>(b), const_cast<float *>(y), n, x_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *a, const float *b, const float *x, const float *y, float *x_out, float *n,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, x, b, y, n, x_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *a, const float *b, const float *x, const float *y, float *x_out, float *n)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 67) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_x = nullptr;
    float *device_y = nullptr;
    float *device_x_out = nullptr;
    float *device_n = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_y, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x_out, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_n, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_a, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_b, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_y, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x_out, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_n, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_b, b, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_y, y, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, device_x, device_y, device_x_out, device_n, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x_out, device_x_out, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(n, device_n, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(device_x_out);
    cudaFree(device_n);
    cudaFree(workspace);
    return error;
}
