// case: 6 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>

#include "case.h"

// Brings the floats of an element to the registers of its thread; they stand `pitch` floats apart.
template <int SIZE>
static __device__ __forceinline__ void load_own(float *own, const float *global, size_t pitch)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) own[k] = __ldcs(global);
}

// Brings the floats of an element back from the registers of its thread.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    if (!exists) return;
    #pragma unroll
    for (int k = 0; k < SIZE; k++, global += pitch) __stcs(global, own[k]);
}

namespace vsoft7 {

static __device__ float cofactor(float x) { return expf(x); }

static __device__ __forceinline__ void d_vsoft7_1_compute_bx256_by1_bz1_rr(float *__restrict__ in, float *__restrict__ out, int tx) {
    float most = in[0];
    #pragma unroll
    for (int i = 1; i < 7; i++) if (in[i] > most) most = in[i];
    float sum = 0.0f;
    int k = 0;
    while (k < 7) { const float e = cofactor(in[k] - most); out[k] = e; sum += e; k++; }
    #pragma unroll
    for (int i = 0; i < 7; i++) out[i] /= sum;
}

}

// vsoft7, vsoft7, vsoft7, vsoft7, vsoft7, vsoft7: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(int count, const float *__restrict__ a, float *b)
{
    float r_a[7];
    float r_b_2[7];
    float r_b_3[7];
    float r_b_4[7];
    float r_b_5[7];
    float r_b_6[7];
    float r_b[7];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<7>(r_a, a + first + min(thread, here - 1), count);
    vsoft7::d_vsoft7_1_compute_bx256_by1_bz1_rr(r_a, r_b_2, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx256_by1_bz1_rr(r_b_2, r_b_3, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx256_by1_bz1_rr(r_b_3, r_b_4, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx256_by1_bz1_rr(r_b_4, r_b_5, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx256_by1_bz1_rr(r_b_5, r_b_6, threadIdx.x);
    vsoft7::d_vsoft7_1_compute_bx256_by1_bz1_rr(r_b_6, r_b, threadIdx.x);
    save_own<7>(b + first + thread, r_b, count, thread < here);
}

cudaError_t case_1_launch(int count, const float *a, float *b, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, a, b);
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
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 7 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(b, device_b, (size_t)count * 7 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(workspace);
    return error;
}
