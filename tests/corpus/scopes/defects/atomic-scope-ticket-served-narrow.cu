// Defect: the number that is served goes on with block scope.
// expect: atomic-scope line=14 array=serving
// expect: race-global line=12 array=total
// expect: status=1
// warpsmith: grid=4 block=32 arg next=uint[1]=zeros arg serving=uint[1]=zeros arg total=int[1]=zeros
__global__ void in_turn(unsigned *next, unsigned *serving, int *total)
{
    if (threadIdx.x != 0) return;
    unsigned mine = atomicAdd(next, 1u);
    while (atomicAdd(serving, 0u) != mine) {}
    __threadfence();
    *total += blockIdx.x;
    __threadfence();
    atomicAdd_block(serving, 1u);
}
