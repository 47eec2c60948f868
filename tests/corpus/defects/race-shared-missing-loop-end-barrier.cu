// Defect: the barrier at the end of the tile loop is missing, so a fast thread refills the tile while others still read it.
// expect: race-shared line=11 array=tile
// expect: status=1

// warpsmith: grid=1 block=32 arg x=float[96]=random arg y=float[32] arg n=96
__global__ void all_pairs(const float *x, float *y, int n)
{
    __shared__ float tile[32];
    float acc = 0.f;
    for (int base = 0; base < n; base += 32) {
        tile[threadIdx.x] = x[base + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 32; ++k) acc += tile[k] * (k + 1);
    }
    y[threadIdx.x] = acc + threadIdx.x;
}
