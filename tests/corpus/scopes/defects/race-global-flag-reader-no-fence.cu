// Defect: the reader does not fence behind the flag.
// expect: race-global line=14 array=data
// expect: status=1
// warpsmith: grid=2 block=32 arg data=int[1]=zeros arg flag=uint[1]=zeros arg out=int[1]=zeros
__global__ void hand_over(int *data, unsigned *flag, int *out)
{
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        data[0] = 41;
        __threadfence();
        atomicExch(flag, 1u);
    } else {
        while (atomicAdd(flag, 0u) == 0) {}
        out[0] = data[0] + 1;
    }
}
