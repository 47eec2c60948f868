// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *in_M, const float *in_v, const float *in_s, const float *in_3, float *x1,
    float *x6, float *x7, float *x8, float *x9, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *in_M, const float *in_v, const float *in_s, const float *in_3, float *x1,
    float *x6, float *x7, float *x8, float *x9);

// Each kernel for itself.
cudaError_t case_1_launch(int count, const float *in_s, float *x0, cudaStream_t stream);
cudaError_t case_2_launch(int count, const float *in_s, float *x1, cudaStream_t stream);
cudaError_t case_3_launch(int count, const float *in_3, const float *in_v, float *x2, cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *in_v, float *x3, cudaStream_t stream);
cudaError_t case_5_launch(int count, const float *in_v, float *x4, cudaStream_t stream);
cudaError_t case_6_launch(int count, const float *x0, const float *x2, float *x5, cudaStream_t stream);
cudaError_t case_7_launch(int count, const float *in_M, const float *x3, float *x6, cudaStream_t stream);
cudaError_t case_8_launch(int count, const float *in_v, float *x7, cudaStream_t stream);
cudaError_t case_9_launch(int count, const float *x5, const float *x4, float *x8, cudaStream_t stream);
cudaError_t case_10_launch(int count, const float *in_v, float *x9, cudaStream_t stream);
