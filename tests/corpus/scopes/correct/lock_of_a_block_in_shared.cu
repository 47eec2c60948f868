// Warps of a block take turns by a lock in shared memory; what it guards is in global memory, one place for each block.
// warpsmith: grid=2 block=128 arg total=int[2]=zeros
__global__ void turns(int *total)
{
    __shared__ int mutex;
    if (threadIdx.x == 0) mutex = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS_block(&mutex, 0, 1) != 0) {}
        __threadfence_block();
        total[blockIdx.x] += threadIdx.x;
        __threadfence_block();
        atomicExch_block(&mutex, 0);
    }
}
