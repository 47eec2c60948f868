// Defect: the lock of all blocks is given back with block scope.
// expect: atomic-scope line=15 array=mutex
// expect: race-global line=13 array=total
// expect: status=1
// warpsmith: grid=3 block=64 arg mutex=int[1]=zeros arg total=int[1]=zeros
__global__ void locked_sum(int *mutex, int *total)
{
    if (threadIdx.x % 32 != 0) return;
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            __threadfence();
            *total += blockIdx.x + threadIdx.x;
            __threadfence();
            atomicExch_block(mutex, 0);
            done = true;
        }
    }
}
