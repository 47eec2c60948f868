// case on `count` elements. Arrays are arrays of structures: element e of size n begins at n * e.
#pragma once

#include <cuda_runtime.h>

// Bytes of device memory that case_launch needs for what goes from kernel to kernel.
size_t case_workspace(int count);

// Starts all kernels; arrays and workspace are on the device.
cudaError_t case_launch(
    int count, const float *begin_2, const float *i1_2, const float *argc_2, float *end_out, float *i1_out,
    float *unix_out, float *fill_out, float *per_second_out, float *workspace, cudaStream_t stream);

// The whole computation with arrays on the host: allocates, copies, starts the kernels and waits.
cudaError_t case_host(
    int count, const float *begin_2, const float *i1_2, const float *argc_2, float *end_out, float *i1_out,
    float *unix_out, float *fill_out, float *per_second_out);

// Each kernel for itself.
cudaError_t case_1_launch(
    int count, const float *begin_2, const float *i1_2, float *end_out, cudaStream_t stream);
cudaError_t case_2_launch(
    int count, const float *end_out, const float *argc_2, float *fill_out, float *k_2, cudaStream_t stream);
cudaError_t case_3_launch(int count, const float *i1_3, const float *k_2, float *i1_6, cudaStream_t stream);
cudaError_t case_4_launch(int count, const float *i1_6, const float *k_2, float *i1_9, cudaStream_t stream);
cudaError_t case_5_launch(
    int count, const float *i1_9, const float *k_2, const float *end_out, float *i1_11, float *bytes_9,
    cudaStream_t stream);
cudaError_t case_6_launch(
    int count, const float *i1_out, const float *bytes_10, const float *k_2, float *unix_out,
    float *per_second_out, cudaStream_t stream);
