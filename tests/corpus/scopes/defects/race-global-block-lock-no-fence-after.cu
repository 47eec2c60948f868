// Defect: the lock is given back without a fence.
// expect: race-global line=11 array=data
// expect: status=1
// warpsmith: grid=3 block=32 arg lock=int[3]=zeros arg data=int[3]=zeros
__global__ void k(int *lock, int *data) {
    if (threadIdx.x % 8 == 0) {
        bool done = false;
        while (!done) {
            if (atomicCAS_block(&lock[blockIdx.x], 0, 1) == 0) {
                __threadfence_block();
                data[blockIdx.x] += threadIdx.x;
                atomicExch_block(&lock[blockIdx.x], 0);
                done = true;
            }
        }
    }
}
