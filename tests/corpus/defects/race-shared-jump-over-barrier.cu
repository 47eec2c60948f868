// Defect: a jump leaves out the barrier between filling the tile and reading it.
// expect: race-shared line=15 array=tile
// expect: status=1

// warpsmith: grid=1 block=64 arg x=float[64] arg y=float[64] arg fresh=0
__global__ void reversed(const float *x, float *y, int fresh)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    if (!fresh) goto use;
    tile[t] *= 2.0f;
    __syncthreads();
use:
    y[t] = tile[63 - t];
}
