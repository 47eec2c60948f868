// expect: invalid-launch line=4
// expect: status=1
// Defect: the directive asks for more threads than a block may have
// warpsmith: grid=1 block=2048 arg x=int[2048]
__global__ void fill(int *x) { x[threadIdx.x] = 1; }
