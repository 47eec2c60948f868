// Defect: only the first block that holds the lock fences before it gives it back.
// expect: race-global line=11 array=total
// expect: status=1

// warpsmith: grid=4 block=1 arg mutex=int[1]=zeros arg total=int[1]
__global__ void locked(int *mutex, int *total)
{
    while (atomicCAS(mutex, 0, 1) != 0)
        ;
    __threadfence();
    *total += blockIdx.x + 1;
    if (blockIdx.x == 0) __threadfence();
    atomicExch(mutex, 0);
}
