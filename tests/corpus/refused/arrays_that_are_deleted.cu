// `delete[]` of objects with a destructor, in kernels
struct Guard {
    int *count;
    __device__ ~Guard() { atomicSub(count, 1); }
};
// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void f(int *x)
{
    Guard *all = new Guard[2];
    all[0].count = all[1].count = x;
    delete[] all;
}
