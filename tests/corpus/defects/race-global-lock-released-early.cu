// Defect: the lock is released before the protected update.
// expect: race-global line=14 array=total
// expect: status=1

// warpsmith: grid=4 block=1 arg lock=int[1] arg total=int[1] arg x=int[4]=iota
__global__ void early_release(int *lock, int *total, const int *x)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    const int mine = x[blockIdx.x] + 1;
    __threadfence();
    atomicExch(lock, 0);
    *total += mine;
}
