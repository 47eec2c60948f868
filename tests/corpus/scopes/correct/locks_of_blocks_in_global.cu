// A lock for each block in global memory: block scope is wide enough for both lock and data.
// warpsmith: grid=3 block=32 arg lock=int[3]=zeros arg data=int[3]=zeros
__global__ void k(int *lock, int *data) {
    if (threadIdx.x % 8 == 0) {
        bool done = false;
        while (!done) {
            if (atomicCAS_block(&lock[blockIdx.x], 0, 1) == 0) {
                __threadfence_block();
                data[blockIdx.x] += threadIdx.x;
                __threadfence_block();
                atomicExch_block(&lock[blockIdx.x], 0);
                done = true;
            }
        }
    }
}
