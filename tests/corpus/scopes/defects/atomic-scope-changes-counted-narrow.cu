// Defect: changes of all blocks are counted with block scope.
// expect: atomic-scope line=12 array=changed
// expect: status=1
// warpsmith: grid=4 block=16 arg label=int[65]=iota arg changed=int[1]=zeros
__global__ void connect(int *label, int *changed)
{
    int e = blockIdx.x * 16 + threadIdx.x;
    for (int round = 0; round < 4; round++) {
        int a = atomicAdd(&label[e], 0), b = atomicAdd(&label[e + 1], 0);
        if (a < b) {
            atomicMin(&label[e + 1], a);
            atomicAdd_block(changed, 1);
        } else if (b < a) {
            atomicMin(&label[e], b);
        }
    }
}
