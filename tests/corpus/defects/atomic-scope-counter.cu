// Defect: a counter of the whole grid is updated by atomics that only threads of one block see.
// expect: atomic-scope line=9 array=hits
// expect: status=1

// warpsmith: grid=3 block=64 arg n=150 arg x=int[150]=iota arg hits=int[1]
__global__ void count(const int *x, int n, int *hits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 50) atomicAdd_block(hits, 1);
}
