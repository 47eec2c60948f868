// Defect: a ticket lock between blocks with fences for one block.
// expect: race-global line=12 array=total
// expect: status=1

// warpsmith: grid=4 block=1 arg next=uint[1]=zeros arg serving=uint[1]=zeros arg total=int[1]
__global__ void ticket_lock(unsigned *next, unsigned *serving, int *total)
{
    unsigned mine = atomicAdd(next, 1u);
    while (atomicAdd(serving, 0u) != mine)
        ;
    __threadfence_block();
    *total += 2 * blockIdx.x + 1;
    __threadfence_block();
    atomicAdd(serving, 1u);
}
