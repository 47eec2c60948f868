// Defect: no fence behind taking the lock.
// expect: race-global line=11 array=total
// expect: status=1
// warpsmith: grid=3 block=64 arg mutex=int[1]=zeros arg total=int[1]=zeros
__global__ void locked_sum(int *mutex, int *total)
{
    if (threadIdx.x % 32 != 0) return;
    bool done = false;
    while (!done) {
        if (atomicCAS(mutex, 0, 1) == 0) {
            *total += blockIdx.x + threadIdx.x;
            __threadfence();
            atomicExch(mutex, 0);
            done = true;
        }
    }
}
