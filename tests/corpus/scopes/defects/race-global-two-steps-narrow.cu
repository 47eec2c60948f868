// Defect: the warp that hears of the other block fences for its own block only.
// expect: race-global line=22 array=data
// expect: status=1
// warpsmith: grid=2 block=64 arg data=int[1]=zeros arg far=uint[1]=zeros arg near=uint[1]=zeros arg out=int[1]=zeros
__global__ void two_steps(int *data, unsigned *far, unsigned *near, int *out)
{
    if (blockIdx.x == 1) {
        if (threadIdx.x == 0) {
            *data = 3;
            __threadfence();
            atomicExch(far, 1u);
        }
        return;
    }
    if (threadIdx.x == 0) {
        while (atomicAdd(far, 0u) == 0) {}
        __threadfence_block();
        atomicExch_block(near, 1u);
    } else if (threadIdx.x == 32) {
        while (atomicAdd_block(near, 0u) == 0) {}
        __threadfence_block();
        *out = *data;
    }
}
