// Defect: no fence behind taking the block's lock.
// expect: race-global line=12 array=total
// expect: status=1
// warpsmith: grid=2 block=128 arg total=int[2]=zeros
__global__ void turns(int *total)
{
    __shared__ int mutex;
    if (threadIdx.x == 0) mutex = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS_block(&mutex, 0, 1) != 0) {}
        total[blockIdx.x] += threadIdx.x;
        __threadfence_block();
        atomicExch_block(&mutex, 0);
    }
}
