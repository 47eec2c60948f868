// A test-and-set lock around a sum, taken by the leader of every warp of every block.
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
            atomicExch(mutex, 0);
            done = true;
        }
    }
}
