// Defect: the sum over all blocks is made with block scope.
// expect: atomic-scope line=9 array=all
// expect: status=1
// warpsmith: grid=4 block=64 arg own=uint[4]=zeros arg all=uint[1]=zeros
__global__ void count(unsigned *own, unsigned *all)
{
    atomicAdd_block(&own[blockIdx.x], threadIdx.x & 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd_block(all, own[blockIdx.x]);
}
