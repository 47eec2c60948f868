// madd33 on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that madd33_launch needs for what goes from kernel to kernel.
size_t madd33_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t madd33_launch(int count, const float *A, float *B, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t madd33_host(int count, const float *A, float *B);

// Each kernel for itself.
cudaError_t madd33_1_launch(int count, const float *A, float *B, cudaStream_t stream);
