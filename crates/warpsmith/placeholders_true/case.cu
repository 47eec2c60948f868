// case: 3 calls of elementary functions in 1 kernel.
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

__device__ inline float times(float a, float b) { return a * b; }

static __device__ __forceinline__ void d_madd33_2_compute_bx3_by32_bz1_ssr(float *A, float *B, float *C, int tx, int ty)
{
    #pragma unroll
    for (int j = 0; j < 3; j++)
        C[j] = A[ty * 9 + tx * 3 + j] + B[ty * 9 + tx * 3 + j];
}

namespace product {

#define SIDE 3
__device__ inline int row(int i) { return i * SIDE; }

static __device__ __forceinline__ void d_product_2_load_1_bx3_by32_bz1_s(matrix3x3 m, float *s_m, int tx, int ty, int bx) {
    int gofs = bx * SIDE * SIDE * 32 + ty * SIDE + tx;
    int sofs = (ty * 3 + tx);
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        s_m[sofs] = m[gofs];
        gofs += 32 * SIDE;
        sofs += 32 * SIDE;
    }
}

static __device__ __forceinline__ void d_product_2_compute_bx3_by32_bz1_sss(float *s_a, float *s_b, float *s_c, int tx, int ty) {
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        float tmp = 0.0f;
        #pragma unroll
        for (int k = 0; k < SIDE; k++) tmp += times(s_a[(ty * 9 + tx * 3) + k], s_b[(ty * 9) + row(k) + i]);
        s_c[(ty * 9 + tx * 3) + i] = tmp;
    }
}

static __device__ __forceinline__ void d_product_2_compute_bx3_by32_bz1_rss(float *s_a, float *s_b, float *s_c, int tx, int ty) {
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        float tmp = 0.0f;
        #pragma unroll
        for (int k = 0; k < SIDE; k++) tmp += times(s_a[0 + k], s_b[(ty * 9) + row(k) + i]);
        s_c[(ty * 9 + tx * 3) + i] = tmp;
    }
}

static __device__ __forceinline__ void d_product_2_save_bx3_by32_bz1_s(float *s_m, matrix3x3 m, int tx, int ty, int bx) {
    int gofs = bx * SIDE * SIDE * 32 + ty * SIDE + tx;
    int sofs = (ty * 3 + tx);
    #pragma unroll
    for (int i = 0; i < SIDE; i++) {
        m[gofs] = s_m[sofs];
        gofs += 32 * SIDE;
        sofs += 32 * SIDE;
    }
}

}

#undef SIDE
// product, madd33, product: 32 elements a block.
static __global__ void __launch_bounds__(96) case_1(int count, float *A, float *B, float *E)
{
    __shared__ __align__(16) float shared[864];
    float *s_A = shared;
    float *s_B = shared + 288;
    float *s_C = shared + 576;
    float r_D[3];
    float *s_E = shared;
    for (int step = 0; step < 2; step++) {
        const int block = blockIdx.x * 2 + step;
        if (block * 32 >= count) break;

        product::d_product_2_load_1_bx3_by32_bz1_s(A, s_A, threadIdx.x, threadIdx.y, block);
        product::d_product_2_load_1_bx3_by32_bz1_s(B, s_B, threadIdx.x, threadIdx.y, block);
        __syncthreads();  // product reads what other threads wrote to A in the load of A
        product::d_product_2_compute_bx3_by32_bz1_sss(s_A, s_B, s_C, threadIdx.x, threadIdx.y);
        d_madd33_2_compute_bx3_by32_bz1_ssr(s_C, s_A, r_D, threadIdx.x, threadIdx.y);
        __syncthreads();  // product reads what other threads wrote to C in product
        product::d_product_2_compute_bx3_by32_bz1_rss(r_D, s_C, s_E, threadIdx.x, threadIdx.y);
        __syncthreads();  // the save of E reads what other threads wrote to E in product
        product::d_product_2_save_bx3_by32_bz1_s(s_E, E, threadIdx.x, threadIdx.y, block);
    }
}

cudaError_t case_1_launch(int count, const float *A, const float *B, float *E, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    const dim3 block(3, 32, 1);
    case_1<<<(count - 1) / 64 + 1, block, 0, stream>>>(count, const_cast<float *>(A), const_cast<float *>(B), E);
    return cudaGetLastError();
}

size_t case_workspace(int count)
{
    (void)count;
    return 0;
}

cudaError_t case_launch(
    int count, const float *A, const float *B, float *E, float *workspace, cudaStream_t stream)
{
    if (count <= 0) return cudaSuccess;
    (void)workspace;
    cudaError_t error = cudaSuccess;
    error = case_1_launch(count, A, B, E, stream);
    if (error != cudaSuccess) return error;
    return cudaSuccess;
}

cudaError_t case_host(int count, const float *A, const float *B, float *E)
{
    if (count <= 0) return cudaSuccess;
    const size_t room = ((size_t)count + 35) / 4 * 4;
    const size_t bytes = case_workspace(count);
    float *device_A = nullptr;
    float *device_B = nullptr;
    float *device_E = nullptr;
    float *workspace = nullptr;
    cudaError_t error = cudaSuccess;
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc((void **)&device_E, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMalloc((void **)&workspace, bytes);
    if (error == cudaSuccess) error = cudaMemset(device_A, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_B, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = cudaMemset(device_E, 0, room * 9 * sizeof(float));
    if (error == cudaSuccess) error = bytes == 0 ? cudaSuccess : cudaMemset(workspace, 0, bytes);
    if (error == cudaSuccess) error = cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    if (error == cudaSuccess) error = case_launch(count, device_A, device_B, device_E, workspace, 0);
    if (error == cudaSuccess) error = cudaMemcpy(E, device_E, (size_t)count * 9 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_E);
    cudaFree(workspace);
    return error;
}
