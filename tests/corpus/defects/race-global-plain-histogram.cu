// Defect: global bins are incremented without an atomic.
// expect: race-global line=9 array=bins
// expect: status=1

// warpsmith: grid=2 block=32 arg v=int[64]=iota arg bins=int[8]
__global__ void histogram_global(const int *v, int *bins)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    bins[v[i] % 8] += 1;
}
