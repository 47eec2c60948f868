// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *S, const float *v, const float *q, float *u, float *v_out, float *workspace,
    cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(int count, const float *S, const float *v, const float *q, float *u, float *v_out);

// Each kernel for itself.
cudaError_t case_1_launch(
    int count, const float *S, const float *v, const float *q, float *v_5, cudaStream_t stream);
cudaError_t case_2_launch(
    int count, const float *q, const float *v_5, const float *S, float *v_out, float *u, cudaStream_t stream);
