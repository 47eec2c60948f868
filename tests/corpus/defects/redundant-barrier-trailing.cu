// A barrier as the last statement of a kernel orders nothing: a note.
// expect: redundant-barrier line=12
// expect: status=0

// warpsmith: grid=1 block=64 arg in=int[64]=iota arg out=int[64]
__global__ void reverse_then_wait(const int *in, int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
}
