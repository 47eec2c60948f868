// Older code: flag and data are volatile, with fences between them.
// warpsmith: grid=2 block=1 arg data=int[1]=zeros arg flag=int[1]=zeros arg out=int[1]=zeros
__global__ void older(volatile int *data, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 9;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}
