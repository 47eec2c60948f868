// Defect: the last element of each block's piece is summed up but never written
// expect: uninitialized-global line=10 array=part
// expect: status=1
// warpsmith: run fill, total
// warpsmith: grid=2 block=32 arg part=int[64]=uninit
__global__ void fill(int *part) { if (threadIdx.x < 31) part[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
// warpsmith: grid=2 block=32 arg part=int[64]=uninit arg sums=int[2]
__global__ void total(const int *part, int *sums)
{
    int v = part[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&sums[blockIdx.x], v);
}
