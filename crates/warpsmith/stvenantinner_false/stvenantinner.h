// stvenantinner on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that stvenantinner_launch needs for what goes from kernel to kernel.
size_t stvenantinner_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t stvenantinner_launch(
    int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w,
    float *result, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t stvenantinner_host(
    int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w,
    float *result);

// Each kernel for itself.
cudaError_t stvenantinner_1_launch(
    int count, const float *R, const float *dPsi, const float *S, const float *dPhi, const float *w,
    float *result, cudaStream_t stream);
