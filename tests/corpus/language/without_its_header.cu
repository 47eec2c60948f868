// A header that is not there, and nothing of which is used.
#include "../common/book.h"
#include "timer_of_ours.h"

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void plain(float *x)
{
    x[threadIdx.x] = 2.0f * threadIdx.x;
}
