// case: 6 calls of elementary functions in 1 kernel.
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
typedef float *matrix4x4; // warpsmith: elements 16
typedef float *quaternion; // warpsmith: elements 4
typedef float *vector7; // warpsmith: elements 7

namespace vsoft7 {

static __device__ float cofactor(float x) { return expf(x); }

static __device__ __forceinline__ void d_vsoft7_1_load_1_bx96_by1_bz1_s(vector7 g, float *s, int tx, int bx) {
    for (int i = 0; i < 7; i++) s[i * 96 + tx] = g[(size_t)bx * 7 * 96 + i * 96 + tx];
}

static __device__ __forceinline__ void d_vsoft7_1_compute_bx96_by1_bz1_sr(float *__restrict__ in, float *__restrict__ out, int tx) {
    float most = in[tx * 7];
    #pragma unroll
    for (int i = 1; i < 7; i++) if (in[tx * 7 + i] > most) most = in[tx * 7 + i];
    float sum = 0.0f;
    int k = 0;
    while (k < 7) { const float e = cofactor(in[tx * 7 + k] - most); out[k] = e; sum += e; k++; }
    #pragma unroll
    for (int i = 0; i < 7; i++) out[i] /= sum;
}

static __device__ __forceinline__ void d_vsoft7_1_compute_bx96_by1_bz1_rr(float *__restrict__ in, float *__restrict__ out, int tx) {
    float most = in[0];
    #pragma unroll
    for (int i = 1; i < 7; i++) if (in[i] > most) most = in[i];
    float sum = 0.0f;
    int k = 0;
    while (k < 7) { const float e = cofactor(in[k] - most); out[k] = e; sum += e; k++; }
    #pragma unroll
    for (int i = 0; i < 7; i++) out[i] /= sum;
}

static __device__ __forceinline__ void d_vsoft7_1_compute_bx96_by1_bz1_rs(float *__restrict__ in, float *__restrict__ out, int tx) {
    float most = in[0];
    #pragma unroll
    for (int i = 1; i < 7; i++) if (in[i] > most) most = in[i];
    float sum = 0.0f;
    int k = 0;
    while (k < 7) { const float e = cofactor(in[k] - most); out[tx * 7 + k] = e; sum += e; k++; }
    #pragma unroll
    for (int i = 0; i < 7; i++) out[tx * 7 + i] /= sum;
}

static __device__ __forceinline__ void d_vsoft7_1_save_bx96_by1_bz1_s(float *s, vector7 g, int tx, int bx) {
    for (int i = 0; i < 7; i++) g[(size_t)bx * 7 * 96 + i * 96 + tx] = s[i * 96 + tx];
}

}

// vsoft7, vsoft7, vsoft7, vsoft7, vsoft7, vsoft7: 96 elements a block.
static __global__ void __launch_bounds__(96) case_1(int count, float *a, float *b)
{
    __shared__ __align__(16) float shared[672];
    float *s_a = shared;
    float r_b_2[7];
    float r_b_3[7];
    float r_b_4[7];
    float r_b_5[7];
    float r_b_6[7];
    float *s_b = shared;

    vsoft7::d_vsoft7_1_load_1_bx96_by1_bz1_s(a, s_a, threadIdx.x, blockIdx.x);
    __syncthreads();  // vsoft7 reads what other threads wrote to a in the load of a
    vsoft7::d_vsoft7_1_compute_bx96_by1_bz1_sr(s_a, r_b_2, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx96_by1_bz1_rr(r_b_2, r_b_3, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx96_by1_bz1_rr(r_b_3, r_b_4, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx96_by1_bz1_rr(r_b_4, r_b_5, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx96_by1_bz1_rr(r_b_5, r_b_6, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx96_by1_bz1_rs(r_b_6, s_b, threadIdx.x);
    __syncthreads();  // the save of b#6 reads what other threads wrote to b#6 in vsoft7
    vsoft7::d_vsoft7_1_save_bx96_by1_bz1_s(s_b, b, threadIdx.x, blockIdx.x);
}

cudaError_t case_1_launch(int count, const float *a, float *b, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(96, 1, 1);
    case_1<<<(count - 1) / 96 + 1, block, 0, stream>>>(count, const_cast<float *>(a), b);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(int count, const float *a, float *b, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, b, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *a, float *b)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 99) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_a, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_b, 0, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(b, device_b, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(workspace);
    return error;
}
