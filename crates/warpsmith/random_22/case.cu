// case: 11 calls of elementary functions in 2 kernels.
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

static __device__ __forceinline__ void d_madd33_1_compute_bx96_by1_bz1_srr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[tx * 9 + i] + B[i];
}

static __device__ __forceinline__ void d_madd33_1_compute_bx96_by1_bz1_rrr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[i];
}

static __device__ __forceinline__ void d_mmul33_1_load_1_bx96_by1_bz1_s(matrix3x3 A, float *s_A, int tx, int bx)
{
    // Where the elements of block bx begin: MMUL33_1_BX is the size of the block along x, here its elements; the generator
    // puts the number in.
    matrix3x3 block_A = A + (size_t)bx * 9 * 96;
    // Neighbouring threads move neighbouring floats, as memory likes it. No bounds are checked: the generator takes care
    // that the last block is whole. Since this is a plain copy of the block, it may put its own copy in place of it.
    #pragma unroll
    for (int i = 0; i < 9; i++) s_A[i * 96 + tx] = block_A[i * 96 + tx];
}

static __device__ __forceinline__ void d_mmul33_1_compute_bx96_by1_bz1_ssr(float *A, float *B, float *C, int tx)
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

static __device__ __forceinline__ void d_mmul33_1_compute_bx96_by1_bz1_rss(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[tx * 9 + k * 3 + j];
            C[tx * 9 + i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mmul33_1_save_bx96_by1_bz1_s(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 96;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * 96 + tx] = s_C[i * 96 + tx];
}

static __device__ __forceinline__ void d_smimul33_1_compute_bx64_by1_bz1_rs(float *s, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 9; i++) C[tx * 9 + i] = i % 4 == 0 ? s[0] : 0.0f;
}

static __device__ __forceinline__ void d_smimul33_1_save_bx64_by1_bz1_s(float *s_C, matrix3x3 C, int tx, int bx)
{
    matrix3x3 block_C = C + (size_t)bx * 9 * 64;
    #pragma unroll
    for (int i = 0; i < 9; i++) block_C[i * 64 + tx] = s_C[i * 64 + tx];
}

static __device__ __forceinline__ void d_svmul3_1_load_1_bx64_by1_bz1_s(vector3 v, float *s_v, int tx, int bx)
{
    vector3 block_v = v + (size_t)bx * 3 * 64;
    #pragma unroll
    for (int i = 0; i < 3; i++) s_v[i * 64 + tx] = block_v[i * 64 + tx];
}

static __device__ __forceinline__ void d_svmul3_1_load_2_bx64_by1_bz1_r(scalar s, float *s_s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    s_s[0] = block_s[tx];
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx64_by1_bz1_srr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[tx * 3 + i];
}

static __device__ __forceinline__ void d_svmul3_1_compute_bx64_by1_bz1_rrr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

static __device__ __forceinline__ void d_venorm3_1_compute_bx64_by1_bz1_rr(float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

static __device__ __forceinline__ void d_venorm3_1_save_bx64_by1_bz1_r(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    block_s[tx] = s_s[0];
}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx64_by1_bz1_rrr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

static __device__ __forceinline__ void d_vvmulabs3_1_save_bx64_by1_bz1_r(float *s_s, scalar s, int tx, int bx)
{
    scalar block_s = s + (size_t)bx * 64;
    block_s[tx] = s_s[0];
}

// mmul33, madd33, madd33, mmul33: 96 elements a block.
static __global__ void __launch_bounds__(96) case_1(int count, float *in_m, float *x9)
{
    __shared__ __align__(16) float shared[1728];
    float *s_in_m = shared;
    float r_x0[9];
    float r_x5[9];
    float r_x8[9];
    float *s_x9 = shared + 864;

    d_mmul33_1_load_1_bx96_by1_bz1_s(in_m, s_in_m, threadIdx.x, blockIdx.x);
    __syncthreads();  // mmul33 reads what other threads wrote to in_m in the load of in_m
    d_mmul33_1_compute_bx96_by1_bz1_ssr(s_in_m, s_in_m, r_x0, threadIdx.x);
    d_madd33_1_compute_bx96_by1_bz1_srr(s_in_m, r_x0, r_x5, threadIdx.x);
    d_madd33_1_compute_bx96_by1_bz1_rrr(r_x5, r_x0, r_x8, threadIdx.x);
    d_mmul33_1_compute_bx96_by1_bz1_rss(r_x8, s_in_m, s_x9, threadIdx.x);
    __syncthreads();  // the save of x9 reads what other threads wrote to x9 in mmul33
    d_mmul33_1_save_bx96_by1_bz1_s(s_x9, x9, threadIdx.x, blockIdx.x);
}

// svmul3, svmul3, vvmulabs3, venorm3, venorm3, smimul33, venorm3: 64 elements a block.
static __global__ void __launch_bounds__(64) case_2(
    int count, float *in_v, float *in_s, float *x3, float *x4, float *x7, float *x10)
{
    __shared__ __align__(16) float shared[576];
    float *s_in_v = shared;
    float r_in_s[1];
    float r_x1[3];
    float r_x2[3];
    float r_x3[1];
    float r_x4[1];
    float r_x6[1];
    float *s_x7 = shared;
    float r_x10[1];

    d_svmul3_1_load_1_bx64_by1_bz1_s(in_v, s_in_v, threadIdx.x, blockIdx.x);
    d_svmul3_1_load_2_bx64_by1_bz1_r(in_s, r_in_s, threadIdx.x, blockIdx.x);
    __syncthreads();  // svmul3 reads what other threads wrote to in_v in the load of in_v
    d_svmul3_1_compute_bx64_by1_bz1_srr(s_in_v, r_in_s, r_x1, threadIdx.x);
    d_svmul3_1_compute_bx64_by1_bz1_rrr(r_x1, r_in_s, r_x2, threadIdx.x);
    d_vvmulabs3_1_compute_bx64_by1_bz1_rrr(r_x2, r_x2, r_x3, threadIdx.x);
    d_vvmulabs3_1_save_bx64_by1_bz1_r(r_x3, x3, threadIdx.x, blockIdx.x);
    d_venorm3_1_compute_bx64_by1_bz1_rr(r_x2, r_x4, threadIdx.x);
    d_venorm3_1_save_bx64_by1_bz1_r(r_x4, x4, threadIdx.x, blockIdx.x);
    d_venorm3_1_compute_bx64_by1_bz1_rr(r_x2, r_x6, threadIdx.x);
    __syncthreads();  // smimul33 writes x7 where other threads touched in_v in svmul3
    d_smimul33_1_compute_bx64_by1_bz1_rs(r_x6, s_x7, threadIdx.x);
    __syncthreads();  // the save of x7 reads what other threads wrote to x7 in smimul33
    d_smimul33_1_save_bx64_by1_bz1_s(s_x7, x7, threadIdx.x, blockIdx.x);
    d_venorm3_1_compute_bx64_by1_bz1_rr(r_x2, r_x10, threadIdx.x);
    d_venorm3_1_save_bx64_by1_bz1_r(r_x10, x10, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *in_m, float *x9, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(96, 1, 1);
    case_1<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, const_cast<float *>(in_m), x9);
    return cudaGetLastError();
}

cudaError_t case_2_launch(
    int count, const float *in_v, const float *in_s, float *x3, float *x4, float *x7, float *x10,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(64, 1, 1);
    case_2<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(in_v), const_cast<float *>(in_s), x3, x4, x7, x10);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x3, float *x4, float *x7,
    float *x9, float *x10, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, in_m, x9, stream);
    if (error != cudaSuccess) return error;
    error = case_2_launch(count, in_v, in_s, x3, x4, x7, x10, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *in_m, const float *in_v, const float *in_s, float *x3, float *x4, float *x7,
    float *x9, float *x10)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 99) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_in_m = nullptr;
    float *device_in_v = nullptr;
    float *device_in_s = nullptr;
    float *device_x3 = nullptr;
    float *device_x4 = nullptr;
    float *device_x7 = nullptr;
    float *device_x9 = nullptr;
    float *device_x10 = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x3, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x4, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x7, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x9, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_x10, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_in_m, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x3, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x4, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x7, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x9, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_x10, 0, room * 1 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_in_m, device_in_v, device_in_s, device_x3, device_x4, device_x7, device_x9, device_x10, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(x3, device_x3, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x4, device_x4, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x7, device_x7, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x9, device_x9, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(x10, device_x10, (size_t)count * 1 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_in_m);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x3);
    cudaFree(device_x4);
    cudaFree(device_x7);
    cudaFree(device_x9);
    cudaFree(device_x10);
    cudaFree(workspace);
    return error;
}
