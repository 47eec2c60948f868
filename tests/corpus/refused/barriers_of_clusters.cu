// Barriers of clusters of blocks (PTX)
// warpsmith: grid=1 block=64 arg x=float[64]
__global__ void f(float *x)
{
    asm volatile("barrier.cluster.arrive.aligned;");
    x[threadIdx.x] = 1;
}
