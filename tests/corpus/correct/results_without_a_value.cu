// Arrays that hold nothing (`=uninit`): written by one kernel, read by the next
// warpsmith: run first, second
// warpsmith: grid=2 block=32 arg part=int[64]=uninit
__global__ void first(int *part) { part[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
// warpsmith: grid=1 block=64 arg part=int[64]=uninit arg out=int[64]=uninit
__global__ void second(const int *part, int *out) { out[threadIdx.x] = part[63 - threadIdx.x]; }
