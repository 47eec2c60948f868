// Atomics of a block's scope where only its own threads update: shared memory, and a piece of global memory for each block.
// warpsmith: grid=3 block=64 arg n=150 arg x=int[150]=random arg bins=int[48]
// warpsmith: grid=5 block=32 arg n=150 arg x=int[150]=random arg bins=int[80]
__global__ void bins_of_blocks(const int *x, int n, int *bins)
{
    __shared__ int seen;
    if (threadIdx.x == 0) seen = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd_block(&bins[blockIdx.x * 16 + x[i] % 15], 1);
        atomicAdd_block(&seen, 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd_block(&bins[blockIdx.x * 16 + 15], seen);
}
