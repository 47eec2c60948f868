// total.h: the sum of an array.
//
// Made for sm_90.
#ifndef TOTAL_H
#define TOTAL_H

#include <stddef.h>

#include <cuda_runtime_api.h>

// Bytes of device memory that total_launch needs as its workspace.
size_t total_workspace(int n);

// Runs asynchronously on the stream and allocates nothing. Every size from 0 up is right. Array
// parameters must not overlap. Returns the first error of a launch, else cudaSuccess.
//
//   n          int
//   x          device array, read: float [n]
//   result     device memory that receives the returned value
//   workspace  device memory, at least total_workspace bytes
//   stream     the stream the work is put on
cudaError_t total_launch(int n, const float *x, float *result, void *workspace,
                         cudaStream_t stream);

#endif
