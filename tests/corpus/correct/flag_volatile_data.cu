// A block waits for a flag and reads volatile data behind it without a fence of its own.
// warpsmith: grid=2 block=1 arg data=int[4] arg flag=int[1]=zeros arg out=int[4]
__global__ void hand_over(volatile int *data, volatile int *flag, int *out)
{
    if (blockIdx.x == 1) {
        for (int i = 0; i < 4; i++) data[i] = 42 + i;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0)
            ;
        for (int i = 0; i < 4; i++) out[i] = data[i];
    }
}
