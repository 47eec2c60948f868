// 3-D grid and 3-D block over a volume with guards in all axes: dim3 arithmetic, long linear indices, nearest-neighbour halving.

struct Extent { int x, y, z; };

__device__ __host__ inline long long linear(const Extent e, int x, int y, int z)
{
    return ((long long)z * e.y + y) * e.x + x;
}

// warpsmith: grid=2,2,2 block=4,4,4 arg volume=short[16][16][16]=random arg half=int[8][8][8] arg nx=8 arg ny=8 arg nz=8
// warpsmith: grid=2,2,2 block=4,4,2 arg volume=short[6][10][14]=random arg half=int[3][5][7] arg nx=7 arg ny=5 arg nz=3
__global__ void halve_volume(const short *volume, int *half, int nx, int ny, int nz)
{
    const Extent small = {nx, ny, nz};
    const Extent big = {2 * nx, 2 * ny, 2 * nz};
    dim3 at(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y, blockIdx.z * blockDim.z + threadIdx.z);
    if (at.x < nx && at.y < ny && at.z < nz) {
        int sum = 0;
        for (int c = 0; c < 8; ++c)
            sum += volume[linear(big, 2 * at.x + (c & 1), 2 * at.y + ((c >> 1) & 1), 2 * at.z + (c >> 2))];
        half[linear(small, at.x, at.y, at.z)] = sum / 8;
    }
}
