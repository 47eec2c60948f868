// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *u, const float *q, const float *S, const float *A, const float *x, const float *v,
    const float *M, const float *d, float *u_out, float *A_out, float *x_out, float *v_out, float *d_out,
    float *m, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *u, const float *q, const float *S, const float *A, const float *x, const float *v,
    const float *M, const float *d, float *u_out, float *A_out, float *x_out, float *v_out, float *d_out,
    float *m);

// Each kernel for itself.
cudaError_t case_1_launch(
    int count, const float *q, const float *u, const float *S, float *u_out, cudaStream_t stream);
cudaError_t case_2_launch(int count, const float *A, float *A_out, cudaStream_t stream);
cudaError_t case_3_launch(int count, const float *x, float *n, cudaStream_t stream);
cudaError_t case_4_launch(
    int count, const float *x, const float *n, float *m, float *x_out, cudaStream_t stream);
cudaError_t case_5_launch(int count, const float *v, float *v_out, cudaStream_t stream);
cudaError_t case_6_launch(int count, const float *M, const float *d, float *d_out, cudaStream_t stream);
