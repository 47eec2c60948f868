// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Arrays on the device must have room for 16 elements more than `count`, zeros for a start.
// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *A, const float *B, float *A_out, float *B_out, float *F, float *E,
    float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *A, const float *B, float *A_out, float *B_out, float *F, float *E);

// Each kernel for itself.
cudaError_t case_1_launch(int count, const float *A_2, const float *B_2, float *A_14, cudaStream_t stream);
cudaError_t case_2_launch(
    int count, const float *A_3, const float *B_3, float *B_6, float *A_7, float *A_8, cudaStream_t stream);
cudaError_t case_3_launch(
    int count, const float *B_6, const float *A_7, const float *A_8, float *A_11, float *B_11,
    cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *A_12, const float *B_12, float *B_13, cudaStream_t stream);
cudaError_t case_5_launch(int count, const float *A_out, float *E, float *F, cudaStream_t stream);
