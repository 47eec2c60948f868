// stvenant on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Arrays on the device must have room for 64 elements more than `count`, zeros for a start.
// Bytes of device memory that stvenant_launch needs for what goes from kernel to kernel.
size_t stvenant_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t stvenant_launch(
    int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R,
    float *v, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t stvenant_host(
    int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R,
    float *v);

// Each kernel for itself.
cudaError_t stvenant_1_launch(
    int count, const float *H, const float *dPhi, const float *w, float *v, cudaStream_t stream);
cudaError_t stvenant_2_launch(
    int count, const float *T4, const float *v, const float *F, float *R, cudaStream_t stream);
