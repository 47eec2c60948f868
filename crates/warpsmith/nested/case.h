// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *A, const float *s, float *B, float *C, float *D, float *workspace,
    cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(int count, const float *A, const float *s, float *B, float *C, float *D);

// Each kernel for itself.
cudaError_t case_1_launch(
    int count, const float *A, const float *s, float *B_2, float *D_2, cudaStream_t stream);
cudaError_t case_2_launch(int count, const float *B_3, const float *A, float *C_2, cudaStream_t stream);
cudaError_t case_3_launch(int count, const float *B_5, const float *s, float *B_13, cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *B_13, const float *s, float *B_21, cudaStream_t stream);
cudaError_t case_5_launch(int count, const float *B_22, const float *s, float *B_26, cudaStream_t stream);
cudaError_t case_6_launch(int count, const float *D_4, const float *C_2, float *D_5, cudaStream_t stream);
cudaError_t case_7_launch(int count, const float *D_7, const float *B, float *D, cudaStream_t stream);
