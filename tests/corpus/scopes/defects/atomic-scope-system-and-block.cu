// Defect: one side has the scope of the system, the other that of a block.
// expect: atomic-scope line=11 array=flag
// expect: race-global line=15 array=data
// expect: status=1
// warpsmith: grid=2 block=1 arg data=int[1]=zeros arg flag=uint[1]=zeros arg out=int[1]=zeros
__global__ void wide(int *data, unsigned *flag, int *out)
{
    if (blockIdx.x == 0) {
        *data = 1;
        __threadfence_system();
        atomicExch_block(flag, 1u);
    } else {
        while (atomicAdd_system(flag, 0u) == 0) {}
        __threadfence_system();
        *out = *data;
    }
}
