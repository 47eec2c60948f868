// Defect: the block in the middle hands on without a fence.
// expect: race-global line=17 array=data
// expect: status=1
// warpsmith: grid=3 block=1 arg data=int[1]=zeros arg one=uint[1]=zeros arg two=uint[1]=zeros arg out=int[1]=zeros
__global__ void chain(int *data, unsigned *one, unsigned *two, int *out)
{
    if (blockIdx.x == 2) {
        *data = 5;
        __threadfence();
        atomicExch(one, 1u);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(one, 0u) == 0) {}
        atomicExch(two, 1u);
    } else {
        while (atomicAdd(two, 0u) == 0) {}
        __threadfence();
        *out = *data;
    }
}
