// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
// Structures of arrays, in which float k of element e stands at count * k + e: A, T, s, B, C, w, U, F.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *A, const float *T, const float *v, const float *D, const float *E, const float *s,
    float *B, float *C, float *w, float *U, float *F, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *A, const float *T, const float *v, const float *D, const float *E, const float *s,
    float *B, float *C, float *w, float *U, float *F);

// Each kernel for itself.
cudaError_t case_1_launch(int count, const float *A, const float *D, float *B_2, cudaStream_t stream);
cudaError_t case_2_launch(int count, const float *B_2, const float *v, float *w, cudaStream_t stream);
cudaError_t case_3_launch(int count, const float *T, const float *B_2, float *U, cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *E, const float *s, float *F, cudaStream_t stream);
cudaError_t case_5_launch(int count, const float *B_3, const float *A, float *B_4, cudaStream_t stream);
cudaError_t case_6_launch(int count, const float *B_4, const float *A, float *B_5, cudaStream_t stream);
cudaError_t case_7_launch(int count, const float *B_5, const float *A, float *B_6, cudaStream_t stream);
cudaError_t case_8_launch(int count, const float *B_6, const float *A, float *B_7, cudaStream_t stream);
cudaError_t case_9_launch(int count, const float *B_7, const float *A, float *B_8, cudaStream_t stream);
cudaError_t case_10_launch(int count, const float *B_8, const float *A, float *B_9, cudaStream_t stream);
cudaError_t case_11_launch(int count, const float *B_9, const float *A, float *B_10, cudaStream_t stream);
cudaError_t case_12_launch(int count, const float *B_10, const float *A, float *B_11, cudaStream_t stream);
cudaError_t case_13_launch(int count, const float *B_11, const float *A, float *B_12, cudaStream_t stream);
cudaError_t case_14_launch(int count, const float *B_12, const float *A, float *B_13, cudaStream_t stream);
cudaError_t case_15_launch(int count, const float *B, const float *D, float *C, cudaStream_t stream);
