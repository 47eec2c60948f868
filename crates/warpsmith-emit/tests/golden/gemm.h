// gemm.h: the function gemm of gemm.c, one thread for each element of C.
//
// Assumes:
// - A, B and C do not overlap.
//
// Verified:
// - checked: the text of this file, run in the emulator, gave what the original gives at n, m, l =
//   0, 1, 31, 32, 33, with a tolerance of 4 L u times the sum of the terms.
//
// Made for sm_90.
#ifndef GEMM_H
#define GEMM_H

#include <cuda_runtime_api.h>

// Runs asynchronously on the stream and allocates nothing. Every size from 0 up is right. Array
// parameters must not overlap. Returns the first error of a launch, else cudaSuccess.
//
//   n       int
//   m       int
//   l       int
//   A       device array, read: float [n][l]
//   B       device array, read: float [l][m]
//   C       device array, written: float [n][m]
//   stream  the stream the work is put on
cudaError_t gemm_launch(int n, int m, int l, const float *A, const float *B, float *C,
                        cudaStream_t stream);

#endif
