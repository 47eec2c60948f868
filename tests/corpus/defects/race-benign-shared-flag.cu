// Threads of a block store the same value to a shared flag between barriers: a note.
// expect: race-benign line=11 array=changed
// expect: status=0

// warpsmith: grid=1 block=64 arg x=int[64]=iota arg out=int[1]
__global__ void block_changed(const int *x, int *out)
{
    __shared__ bool changed;
    if (threadIdx.x == 0) changed = false;
    __syncthreads();
    if (x[threadIdx.x] > 50) changed = true;
    __syncthreads();
    if (threadIdx.x == 1) out[0] = changed ? 1 : 0;
}
