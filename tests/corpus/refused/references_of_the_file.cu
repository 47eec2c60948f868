// References as variables of the file
// warpsmith: grid=1 block=32
__device__ int count;
__device__ int &counter = count;
__global__ void tally() { atomicAdd(&counter, 1); }
