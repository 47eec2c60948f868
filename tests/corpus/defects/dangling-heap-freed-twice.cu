// Defect: each thread frees the memory that one of them has allocated for the block
// expect: dangling line=15 array=heap
// expect: status=1

// warpsmith: grid=2 block=32 arg out=int[64]
__global__ void shared_piece(int *out)
{
    __shared__ int *piece;
    if (threadIdx.x == 0) piece = (int *)malloc(blockDim.x * sizeof(int));
    __syncthreads();
    piece[threadIdx.x] = threadIdx.x * blockIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = piece[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    free(piece);
}
