// Defect: no fence before the block's lock is given back.
// expect: race-global line=13 array=total
// expect: status=1
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
        atomicExch_block(&mutex, 0);
    }
}
