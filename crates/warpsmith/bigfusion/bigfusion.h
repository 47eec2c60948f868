// bigfusion on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that bigfusion_launch needs for what goes from kernel to kernel.
size_t bigfusion_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t bigfusion_launch(
    int count, const float *A, const float *B, const float *c, const float *D, const float *E, float *F,
    float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t bigfusion_host(
    int count, const float *A, const float *B, const float *c, const float *D, const float *E, float *F);

// Each kernel for itself.
cudaError_t bigfusion_1_launch(
    int count, const float *A, const float *B, const float *c, const float *D, const float *E, float *F,
    cudaStream_t stream);
