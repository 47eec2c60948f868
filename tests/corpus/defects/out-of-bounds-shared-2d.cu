// Defect: the block is one row taller than the 2-D shared tile.
// expect: out-of-bounds line=10 array=tile
// expect: status=1

// warpsmith: grid=1 block=8,9 arg in=float[9][8]=iota arg out=float[8][8]
__global__ void tall_block(const float *in, float *out)
{
    __shared__ float tile[8][8];
    const int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 8 + x];
    __syncthreads();
    if (y < 8) out[y * 8 + x] = tile[x][y];
}
