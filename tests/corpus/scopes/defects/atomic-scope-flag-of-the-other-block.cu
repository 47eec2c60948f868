// Defect: block scope, and the number is that of the other block.
// expect: atomic-scope line=10 array=flag
// expect: race-global line=8 array=data
// expect: status=1
// warpsmith: grid=2 block=64 arg data=int[2]=zeros arg flag=int[2]=zeros arg out=int[2]=zeros
__global__ void k(int *data, int *flag, int *out) {
    if (threadIdx.x == 0) {
        data[blockIdx.x] = 7;
        __threadfence_block();
        atomicExch_block(&flag[blockIdx.x], 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd_block(&flag[blockIdx.x ^ 1], 0) == 0) {}
        __threadfence_block();
        out[blockIdx.x] = data[blockIdx.x ^ 1];
    }
}
