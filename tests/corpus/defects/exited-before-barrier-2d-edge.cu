// Edge threads of a 2-D block return before the barrier; the others exchange within their row: a note.
// expect: exited-before-barrier line=12
// expect: status=0

// warpsmith: grid=2,2 block=8,8 arg in=float[11][14]=iota arg out=float[11][14] arg w=14 arg h=11
__global__ void mirror_in_pairs(const float *in, float *out, int w, int h)
{
    __shared__ float tile[8][8];
    const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= w || y >= h) return;
    tile[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    out[y * w + x] = tile[threadIdx.y][threadIdx.x ^ 1];
}
