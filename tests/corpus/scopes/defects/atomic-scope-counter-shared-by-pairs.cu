// Defect: pairs of blocks share a counter of block scope.
// expect: atomic-scope line=7 array=own
// expect: status=1
// warpsmith: grid=4 block=64 arg own=uint[4]=zeros arg all=uint[1]=zeros
__global__ void count(unsigned *own, unsigned *all)
{
    atomicAdd_block(&own[blockIdx.x / 2], threadIdx.x & 1u);
    __syncthreads();
}
