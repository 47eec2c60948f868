// A jump to the end of a kernel ends the thread, as `return` does: operations of the warp do not wait for it.

// warpsmith: grid=2 block=64 arg out=float[100] arg n=100
__global__ void guarded(float *out, int n)
{
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) goto end;
    s[threadIdx.x] = i;
    __syncwarp();
    out[i] = s[threadIdx.x & ~1];
end:
    return;
}

// warpsmith: grid=1 block=64 arg out=int[64] arg n=40
__global__ void counted(int *out, int n)
{
    int i = threadIdx.x, votes = 0;
    if (i >= n) goto last;
    votes = __popc(__ballot_sync(i < 32 ? 0xffffffffu : 0xffu, 1));
    __assert(votes == (i < 32 ? 32 : 8));
last:
    out[i] = votes;
}
