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

static __device__ __forceinline__ void d_svmul3_1_compute_bx256_by1_bz1_rrr(float *v, float *s, float *w, int tx)
{
    #pragma unroll
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

namespace vcross3 {

static __device__ void cross3(const float *u, const float *v, float *w)
{
    w[0] = u[1] * v[2] - u[2] * v[1];
    w[1] = u[2] * v[0] - u[0] * v[2];
    w[2] = u[0] * v[1] - u[1] * v[0];
}

static __device__ __forceinline__ void d_vcross3_1_compute_bx256_by1_bz1_rrr(float *u, float *v, float *w, int tx)
{
    cross3(u + 0, v + 0, w + 0);
}

}

static __device__ __forceinline__ void d_vvmulabs3_1_compute_bx256_by1_bz1_rrr(float *u, float *v, float *s, int tx)
{
    float sum = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

// vcross3, vcross3, mvmul33, vvmulabs3, svmul3, vcross3: 256 elements a block.
static __global__ void __launch_bounds__(256) case_1(
    int count, const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ M,
    float *c, float *d, float *a_out)
{
    float r_a[3];
    float r_b[3];
    float r_c[3];
    float r_d_2[3];
    float r_M[9];
    float r_b_2[3];
    float r_s[1];
    float r_d[3];
    float r_a_out[3];
    const int thread = threadIdx.x;
    const int first = blockIdx.x * 256;
    const int here = min(count - first, 256);

    load_own<3>(r_a, a + first + min(thread, here - 1), count);
    load_own<3>(r_b, b + first + min(thread, here - 1), count);
    load_own<9>(r_M, M + first + min(thread, here - 1), count);
    vcross3::d_vcross3_1_compute_bx256_by1_bz1_rrr(r_a, r_b, r_c, threadIdx.x);
    vcross3::d_vcross3_1_compute_bx256_by1_bz1_rrr(r_c, r_a, r_d_2, threadIdx.x);
    d_mvmul33_1_compute_bx256_by1_bz1_rrr(r_M, r_c, r_b_2, threadIdx.x);
    d_vvmulabs3_1_compute_bx256_by1_bz1_rrr(r_b_2, r_d_2, r_s, threadIdx.x);
    d_svmul3_1_compute_bx256_by1_bz1_rrr(r_d_2, r_s, r_d, threadIdx.x);
    vcross3::d_vcross3_1_compute_bx256_by1_bz1_rrr(r_d, r_d, r_a_out, threadIdx.x);
    save_own<3>(c + first + thread, r_c, count, thread < here);
    save_own<3>(d + first + thread, r_d, count, thread < here);
    save_own<3>(a_out + first + thread, r_a_out, count, thread < here);
}

cudaError_t case_1_launch(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out,
    cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(256, 1, 1);
    case_1<<<(count - 1) / 256 + 1, block, 0, stream>>>(count, a, b, M, c, d, a_out);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out,
    float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, a, b, M, c, d, a_out, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(
    int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 3) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_a = nullptr;
    float *device_b = nullptr;
    float *device_M = nullptr;
    float *device_c = nullptr;
    float *device_d = nullptr;
    float *device_a_out = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_b, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_M, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_c, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_d, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_a_out, room * 3 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_a, a, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_b, b, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_M, M, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_a, device_b, device_M, device_c, device_d, device_a_out, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(c, device_c, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(d, device_d, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    if (error == cudaSuccess) error = cudaMemcpy(a_out, device_a_out, (size_t)count * 3 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_M);
    cudaFree(device_c);
    cudaFree(device_d);
    cudaFree(device_a_out);
    cudaFree(workspace);
    return error;
}
