// Functions of libcu++ that are not known
// warpsmith: grid=1 block=32 arg x=float[32]
#include <cuda/std/cmath>
__global__ void f(float *x) { x[threadIdx.x] = cuda::std::assoc_laguerre(1u, 2u, x[threadIdx.x]); }
