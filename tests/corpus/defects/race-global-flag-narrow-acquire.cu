// Defect: what another block has written is fenced for the own block only.
// expect: race-global line=16 array=data
// expect: status=1

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
        __threadfence_block();
        *out = *data;
    }
}
