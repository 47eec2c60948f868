// Defect: a warp reads behind the flag of its block without a fence.
// expect: race-global line=15 array=data
// expect: status=1
// warpsmith: grid=3 block=64 arg data=int[3]=zeros arg flag=uint[3]=zeros arg out=int[3]=zeros
__global__ void hand_over(int *data, unsigned *flag, int *out)
{
    int b = blockIdx.x;
    if (threadIdx.x == 32) {
        data[b] = b * b;
        __threadfence_block();
        atomicExch_block(&flag[b], 1u);
    }
    if (threadIdx.x == 0) {
        while (atomicAdd_block(&flag[b], 0u) == 0) {}
        out[b] = data[b] + 1;
    }
}
