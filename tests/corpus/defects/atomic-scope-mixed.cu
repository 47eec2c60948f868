// Defect: one block updates with an atomic of its own scope what others update for the device.
// expect: atomic-scope line=10 array=most
// expect: status=1

// warpsmith: grid=4 block=32 arg x=int[128]=iota arg most=int[1]
__global__ void largest(const int *x, int *most)
{
    int v = x[blockIdx.x * 32 + threadIdx.x];
    if (blockIdx.x == 0) {
        atomicMax_block(most, v);
    } else {
        atomicMax(most, v);
    }
}
