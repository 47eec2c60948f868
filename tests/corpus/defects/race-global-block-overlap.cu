// Defect: each block writes one element past its chunk (<= instead of <), the first element of the next block.
// expect: race-global line=10 array=out
// expect: status=1

// warpsmith: grid=4 block=16 arg in=int[64]=iota arg out=int[65] arg chunk=16
__global__ void chunked_copy(const int *in, int *out, int chunk)
{
    const int first = blockIdx.x * chunk;
    for (int k = threadIdx.x; k <= chunk; k += blockDim.x)
        out[first + k] = in[first + k % chunk] * 3;
}
