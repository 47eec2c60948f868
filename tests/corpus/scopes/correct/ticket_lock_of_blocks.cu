// A ticket lock of which several blocks draw: two counters, both of device scope.
// warpsmith: grid=4 block=32 arg next=uint[1]=zeros arg serving=uint[1]=zeros arg total=int[1]=zeros
__global__ void in_turn(unsigned *next, unsigned *serving, int *total)
{
    if (threadIdx.x != 0) return;
    unsigned mine = atomicAdd(next, 1u);
    while (atomicAdd(serving, 0u) != mine) {}
    __threadfence();
    *total += blockIdx.x;
    __threadfence();
    atomicAdd(serving, 1u);
}
