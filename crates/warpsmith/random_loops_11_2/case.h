// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *r_out, float *w, float *t, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *r_out, float *w, float *t);

// Each kernel for itself.
cudaError_t case_1_launch(int count, const float *A, const float *s, float *B_2, cudaStream_t stream);
cudaError_t case_2_launch(
    int count, const float *A, const float *B_3, const float *v, float *B_6, float *w_2, cudaStream_t stream);
cudaError_t case_3_launch(int count, const float *u, float *r_8, cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *B_out, const float *w_3, float *w, cudaStream_t stream);
cudaError_t case_5_launch(int count, const float *u, float *t, cudaStream_t stream);
