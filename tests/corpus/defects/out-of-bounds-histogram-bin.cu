// Defect: a value equal to the number of bins is counted by an atomic past the end.
// expect: out-of-bounds line=8 array=bins
// expect: status=1

// warpsmith: grid=1 block=64 arg v=int[64]=iota arg bins=int[16]
__global__ void count_modulo(const int *v, int *bins)
{
    atomicAdd(&bins[v[threadIdx.x] % 17], 1);
}
