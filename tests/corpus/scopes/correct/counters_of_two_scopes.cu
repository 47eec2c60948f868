// Each block counts for itself with block scope, and its leader adds the sum to the device's counter.
// warpsmith: grid=4 block=64 arg own=uint[4]=zeros arg all=uint[1]=zeros
__global__ void count(unsigned *own, unsigned *all)
{
    atomicAdd_block(&own[blockIdx.x], threadIdx.x & 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(all, own[blockIdx.x]);
}
