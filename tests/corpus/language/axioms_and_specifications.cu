// Axioms of the file exclude launches; functions that are only specified, with and without promises.
// warpsmith: grid=1 block=32 arg x=int[33]
// warpsmith: grid=2 block=64 arg x=int[33]
#include <cassert>
#define N 32
__axiom(blockDim.x == N);
__axiom(gridDim.x == 1);
__spec __device__ int anything(int i);
__spec __device__ int next(int i)
{
    __requires(i >= 0);
    __ensures(__return_val_int() > i);
    __ensures(__return_val_int() <= i + 1);
}
__global__ void fill(int *x)
{
    int i = threadIdx.x;
    assert(next(i) == i + 1);
    x[next(i)] = anything(i);
}
