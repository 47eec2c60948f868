// Operations on halves of words that are not known
// warpsmith: grid=1 block=32 arg x=unsigned[32]
__global__ void f(unsigned *x) { x[threadIdx.x] = __viaddmax_s16x2(x[threadIdx.x], 1u, 2u); }
