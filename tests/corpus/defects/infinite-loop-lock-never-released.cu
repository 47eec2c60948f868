// Defect: the first block keeps the lock, the second spins for ever.
// expect: infinite-loop line=8
// expect: status=1

// warpsmith: grid=2 block=1 arg lock=int[1] arg tally=int[1]
__global__ void keeps_the_lock(int *lock, int *tally)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    atomicAdd(tally, 1);
    __threadfence();
}
