// Knowledge goes on: the first block tells the second, the second tells the third, which reads what the first has written.
// warpsmith: grid=3 block=1 arg data=int[1]=zeros arg one=uint[1]=zeros arg two=uint[1]=zeros arg out=int[1]=zeros
__global__ void chain(int *data, unsigned *one, unsigned *two, int *out)
{
    if (blockIdx.x == 2) {
        *data = 5;
        __threadfence();
        atomicExch(one, 1u);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(one, 0u) == 0) {}
        __threadfence();
        atomicExch(two, 1u);
    } else {
        while (atomicAdd(two, 0u) == 0) {}
        __threadfence();
        *out = *data;
    }
}
