// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *A, const float *p_A_2, const float *device_A_2, const float *A_expected_2,
    float *A_out, float *s_A_2, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *A, const float *p_A_2, const float *device_A_2, const float *A_expected_2,
    float *A_out, float *s_A_2);

// Each kernel for itself.
cudaError_t case_1_launch(
    int count, const float *A, const float *p_A_2, const float *device_A_2, const float *A_expected_2,
    float *s_A_2, float *d_A_even_2, cudaStream_t stream);
cudaError_t case_2_launch(
    int count, const float *A_3, const float *d_A_even_2, float *A_8, cudaStream_t stream);
cudaError_t case_3_launch(
    int count, const float *A_8, const float *d_A_even_2, float *A_13, cudaStream_t stream);
