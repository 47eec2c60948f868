// Defect: the writer's fence covers its own block, the reader is in another one.
// expect: race-global line=15 array=data
// expect: status=1
// warpsmith: grid=2 block=32 arg data=int[1]=zeros arg flag=uint[1]=zeros arg out=int[1]=zeros
__global__ void hand_over(int *data, unsigned *flag, int *out)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        data[0] = 41;
        __threadfence_block();
        atomicExch(flag, 1u);
    } else {
        while (atomicAdd(flag, 0u) == 0) {}
        __threadfence();
        out[0] = data[0] + 1;
    }
}
