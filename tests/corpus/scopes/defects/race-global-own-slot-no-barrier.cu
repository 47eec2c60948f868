// Defect: the slot is read before all threads of the block have added.
// expect: race-global line=6 array=own
// expect: status=1
// warpsmith: grid=4 block=64 arg own=int[4]=zeros arg total=int[1]=zeros arg x=int[256]=random
__global__ void k(int *own, int *total, const int *x) {
    atomicAdd_block(&own[blockIdx.x], x[blockIdx.x * 64 + threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(total, own[blockIdx.x]);
}
