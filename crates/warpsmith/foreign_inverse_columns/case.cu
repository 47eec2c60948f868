// case: 3 calls of elementary functions in 1 kernel.
// Made for sm_90.

#include <cuda_runtime.h>
#include <math.h>

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

namespace minv33 {

#define AT(i, j) a[(i) * 3 + (j)]
static __device__ __forceinline__ float cofactor(const float *a, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return AT(i1, j1) * AT(i2, j2) - AT(i1, j2) * AT(i2, j1);
}

static __device__ __forceinline__ void d_minv33_1_compute_bx256_by1_bz1_rr(float *m, float *out, int tx) {
    float a[9];
    #pragma unroll
    for (int i = 0; i < 9; i++) a[i] = m[i];
    float det = 0.0f;
    #pragma unroll
    for (int j = 0; j < 3; j++) det += AT(0, j) * cofactor(a, 0, j);
    const float r = fabsf(det) > 1e-30f ? 1.0f / det : 0.0f;
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) out[j * 3 + i] = cofactor(a, i, j) * r;
}

}

#undef AT
static __device__ __forceinline__ void d_mmul33_1_compute_bx256_by1_bz1_rrr(float *A, float *B, float *C, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++)
        #pragma unroll
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            #pragma unroll
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

static __device__ __forceinline__ void d_mvmul33_1_compute_bx256_by1_bz1_rrr(float *A, float *v, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        #pragma unroll
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}

// minv33, mmul33, mvmul33: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ A, const float *__restrict__ v, float *I, float *w)
{
    float r_A[9];
    float r_I[9];
    float r_P[9];
    float r_v[3];
    float r_w[3];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<9>(r_A, A + first + min(thread, here - 1), count);
    load_own<3>(r_v, v + first + min(thread, here - 1), count);
    minv33::d_minv33_1_compute_bx256_by1_bz1_rr(r_A, r_I, threadIdx.x);
    d_mmul33_1_compute_bx256_by1_bz1_rrr(r_I, r_A, r_P, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_rrr(r_P, r_v, r_w, threadIdx.x);
    save_own<9>(I + first + thread, r_I, count, thread < here);
    save_own<3>(w + first + thread, r_w, count, thread < here);
}

cudaError_t case_1_launch(int count, const float *A, const float *v, float *I, float *w, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, A, v, I, w);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *v, float *w, float *I, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, v, I, w, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *v, float *w, float *I)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_v = nullptr;
    float *device_w = nullptr;
    float *device_I = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_I, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_v, device_w, device_I, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(w, device_w, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(I, device_I, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_v);
    cudaFree(device_w);
    cudaFree(device_I);
    cudaFree(workspace);
    return error;
}
