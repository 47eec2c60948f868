// Defect: no barrier between filling the tile and reading it reversed.
// expect: race-shared line=10 array=tile
// expect: status=1

// warpsmith: grid=2 block=64 arg in=float[128]=iota arg out=float[128]
__global__ void reverse_tile(const float *in, float *out)
{
    __shared__ float tile[64];
    const int t = threadIdx.x, base = blockIdx.x * 64;
    tile[t] = in[base + t];
    out[base + t] = tile[63 - t];
}
