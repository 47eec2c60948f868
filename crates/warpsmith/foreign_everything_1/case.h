// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Arrays on the device must have room for 96 elements more than `count`, zeros for a start.
// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *A, const float *u, const float *a, const float *K, const float *p, const float *s,
    float *M, float *b, float *L, float *q, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *A, const float *u, const float *a, const float *K, const float *p, const float *s,
    float *M, float *b, float *L, float *q);

// Each kernel for itself.
cudaError_t case_1_launch(int count, const float *a, float *b, cudaStream_t stream);
cudaError_t case_2_launch(int count, const float *K, float *L, float *s_2, cudaStream_t stream);
cudaError_t case_3_launch(
    int count, const float *A, const float *u, const float *s, const float *s_2, float *M,
    cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *p, float *q, cudaStream_t stream);
