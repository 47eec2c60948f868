// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *C, float *t, float *v_out, float *A_out, float *r_out, float *workspace,
    cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s,
    float *B_out, float *C, float *t, float *v_out, float *A_out, float *r_out);

// Each kernel for itself.
cudaError_t case_1_launch(int count, const float *A, const float *r, float *B_out, cudaStream_t stream);
cudaError_t case_2_launch(int count, const float *B_out, const float *A, float *C, cudaStream_t stream);
cudaError_t case_3_launch(int count, const float *v, const float *u, float *t, cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *A_2, const float *v_2, float *v_3, cudaStream_t stream);
cudaError_t case_5_launch(int count, const float *A_2, const float *B_out, float *A_3, cudaStream_t stream);
cudaError_t case_6_launch(int count, const float *A_3, const float *v_3, float *v_4, cudaStream_t stream);
cudaError_t case_7_launch(int count, const float *A_3, const float *B_out, float *A_4, cudaStream_t stream);
cudaError_t case_8_launch(int count, const float *A_4, const float *v_4, float *v_5, cudaStream_t stream);
cudaError_t case_9_launch(int count, const float *A_4, const float *B_out, float *A_5, cudaStream_t stream);
cudaError_t case_10_launch(int count, const float *A_5, const float *v_5, float *v_6, cudaStream_t stream);
cudaError_t case_11_launch(int count, const float *A_5, const float *B_out, float *A_6, cudaStream_t stream);
cudaError_t case_12_launch(int count, const float *A_6, const float *v_6, float *v_7, cudaStream_t stream);
cudaError_t case_13_launch(int count, const float *A_6, const float *B_out, float *A_7, cudaStream_t stream);
cudaError_t case_14_launch(int count, const float *A_7, const float *v_7, float *v_8, cudaStream_t stream);
cudaError_t case_15_launch(int count, const float *A_7, const float *B_out, float *A_8, cudaStream_t stream);
cudaError_t case_16_launch(int count, const float *A_8, const float *v_8, float *v_9, cudaStream_t stream);
cudaError_t case_17_launch(int count, const float *A_8, const float *B_out, float *A_9, cudaStream_t stream);
cudaError_t case_18_launch(int count, const float *A_9, const float *v_9, float *v_10, cudaStream_t stream);
cudaError_t case_19_launch(int count, const float *A_9, const float *B_out, float *A_10, cudaStream_t stream);
cudaError_t case_20_launch(int count, const float *A_11, const float *v_11, float *v_12, cudaStream_t stream);
cudaError_t case_21_launch(int count, const float *A_11, const float *B_out, float *A_12, cudaStream_t stream);
cudaError_t case_22_launch(int count, const float *A_12, const float *v_12, float *v_13, cudaStream_t stream);
cudaError_t case_23_launch(int count, const float *A_12, const float *B_out, float *A_13, cudaStream_t stream);
cudaError_t case_24_launch(int count, const float *A_13, const float *v_13, float *v_14, cudaStream_t stream);
cudaError_t case_25_launch(int count, const float *A_13, const float *B_out, float *A_14, cudaStream_t stream);
cudaError_t case_26_launch(int count, const float *A_14, const float *v_14, float *v_15, cudaStream_t stream);
cudaError_t case_27_launch(int count, const float *A_14, const float *B_out, float *A_15, cudaStream_t stream);
cudaError_t case_28_launch(int count, const float *A_15, const float *v_15, float *v_16, cudaStream_t stream);
cudaError_t case_29_launch(int count, const float *A_15, const float *B_out, float *A_16, cudaStream_t stream);
cudaError_t case_30_launch(int count, const float *A_16, const float *v_16, float *v_out, cudaStream_t stream);
cudaError_t case_31_launch(
    int count, const float *A_16, const float *B_out, float *A_out, cudaStream_t stream);
cudaError_t case_32_launch(int count, const float *v_out, float *r_out, cudaStream_t stream);
