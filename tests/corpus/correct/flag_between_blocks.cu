// One block hands a value to another: store, fence, atomic; atomic, fence, load. The one that waits goes first.
// warpsmith: grid=2 block=1 arg data=int[1] arg flag=int[1]=zeros arg out=int[1]
__global__ void hand_over(int *data, int *flag, int *out)
{
    if (blockIdx.x == 1) {
        *data = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0)
            ;
        __threadfence();
        *out = *data;
    }
}
