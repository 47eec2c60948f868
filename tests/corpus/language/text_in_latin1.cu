// Text in Latin-1: äöü, and a string of it.
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void latin(int *x)
{
    const char *name = "Größe"; /* é */
    x[threadIdx.x] = name[0];
    __assert(x[threadIdx.x] == 71);
}
