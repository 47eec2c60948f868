// Defect: the block that is waited for does not fence.
// expect: race-global line=17 array=data
// expect: status=1
// warpsmith: grid=2 block=64 arg data=int[64]=zeros arg flag=uint[1]=zeros arg out=int[64]=zeros
__global__ void wait_as_one(int *data, unsigned *flag, int *out)
{
    if (blockIdx.x == 1) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1u);
    } else {
        int seen;
        do {
            seen = threadIdx.x == 0 ? (int)atomicAdd(flag, 0u) : 0;
        } while (__syncthreads_or(seen) == 0);
        __threadfence();
        out[threadIdx.x] = data[63 - threadIdx.x];
    }
}
