// A warp hands a value to another of its block with fences and atomics of the block's scope.
// warpsmith: grid=2 block=64 arg out=int[2]
__global__ void warps(int *out)
{
    __shared__ int data, flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        data = 7 + blockIdx.x;
        __threadfence_block();
        atomicExch_block(&flag, 1);
    }
    if (threadIdx.x == 0) {
        while (atomicAdd_block(&flag, 0) == 0)
            ;
        __threadfence_block();
        out[blockIdx.x] = data;
    }
}
