// Defect: shared bins are incremented without an atomic.
// expect: race-shared line=11 array=bins
// expect: status=1

// warpsmith: grid=1 block=64 arg v=uchar[64]=iota arg out=uint[16]
__global__ void histogram_plain(const unsigned char *v, unsigned *out)
{
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[v[threadIdx.x] & 15]++;
    __syncthreads();
    if (threadIdx.x < 16) out[15 - threadIdx.x] = bins[15 - threadIdx.x];
}
