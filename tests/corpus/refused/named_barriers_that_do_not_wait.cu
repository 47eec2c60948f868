// Arriving at a barrier without waiting (PTX)
// warpsmith: grid=1 block=64 arg x=float[64]
__global__ void f(float *x)
{
    asm volatile("bar.arrive 1, 64;");
    x[threadIdx.x] = 1;
}
