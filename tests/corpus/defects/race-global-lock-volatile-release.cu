// Defect: a lock is given back by a volatile store, which is no atomic to the other blocks.
// expect: race-global line=9 array=mutex
// expect: race-global line=14 array=mutex
// expect: status=1

// warpsmith: grid=3 block=1 arg mutex=int[1]=zeros arg total=int[1]
__global__ void locked(int *mutex, int *total)
{
    while (atomicCAS(mutex, 0, 1) != 0)
        ;
    __threadfence();
    *total += 1;
    __threadfence();
    *(volatile int *)mutex = 0;
}
