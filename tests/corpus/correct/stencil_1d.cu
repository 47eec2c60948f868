// 1-D stencil with a halo loaded by the first RADIUS threads: the shared tile is wider than the block.
#define RADIUS 3
#define BLOCK_SIZE 64

// warpsmith: grid=2 block=64 arg n=128 arg in=int[128]=iota arg out=int[128]
// warpsmith: grid=3 block=64 arg n=150 arg in=int[150]=iota arg out=int[150]
__global__ void stencil_1d(const int *in, int *out, int n)
{
    __shared__ int temp[BLOCK_SIZE + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x;
    int lindex = threadIdx.x + RADIUS;

    temp[lindex] = gindex < n ? in[gindex] : 0;
    if (threadIdx.x < RADIUS) {
        int left = gindex - RADIUS, right = gindex + BLOCK_SIZE;
        temp[lindex - RADIUS] = left >= 0 ? in[left] : 0;
        temp[lindex + BLOCK_SIZE] = right < n ? in[right] : 0;
    }
    __syncthreads();

    int result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[lindex + offset];
    if (gindex < n) out[gindex] = result;
}
