// Defect: a state of MTGP32 is for blocks of 256 threads at most.
// expect: assert-failed line=8
// expect: status=1
#include <curand_kernel.h>
// warpsmith: grid=1 block=512 arg x=float[512]
__global__ void numbers(curandStateMtgp32 *state, float *x)
{
    x[threadIdx.x] = curand_uniform(state);
}
