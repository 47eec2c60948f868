// Defect: a value written by the leader of the block is read by all without a barrier after the write.
// expect: race-shared line=10 array=offset
// expect: status=1

// warpsmith: grid=2 block=64 arg counter=int[1] arg out=int[128]
__global__ void allocate(int *counter, int *out)
{
    __shared__ int offset;
    if (threadIdx.x == 0)
        offset = atomicAdd(counter, (int)blockDim.x);
    out[offset + threadIdx.x] = threadIdx.x;
}
