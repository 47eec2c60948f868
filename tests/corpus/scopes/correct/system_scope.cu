// Scopes of the whole system are wide enough for other blocks as well.
// warpsmith: grid=2 block=1 arg data=int[1]=zeros arg flag=uint[1]=zeros arg out=int[1]=zeros
__global__ void wide(int *data, unsigned *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 1;
        __threadfence_system();
        atomicExch_system(flag, 1u);
    } else {
        while (atomicAdd_system(flag, 0u) == 0) {}
        __threadfence_system();
        *out = *data;
    }
}
