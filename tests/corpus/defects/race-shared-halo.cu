// Defect: the barrier stands before the halo load instead of after it, so halo cells race with the stencil.
// expect: race-shared line=12 array=tile
// expect: status=1

// warpsmith: grid=2 block=32 arg in=float[66]=iota arg out=float[64]
__global__ void three_point(const float *in, float *out)
{
    __shared__ float tile[34];
    const int t = threadIdx.x, g = blockIdx.x * 32 + t;
    tile[t] = in[g];
    __syncthreads();
    if (t >= 30) tile[t + 2] = in[g + 2];
    out[g] = tile[t] + tile[t + 1] + tile[t + 2];
}
