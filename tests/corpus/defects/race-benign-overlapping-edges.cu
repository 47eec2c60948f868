// Neighbouring blocks both write the shared edge element with the same value copied from the input: a note.
// expect: race-benign line=9 array=out
// expect: status=0

// warpsmith: grid=4 block=9 arg in=float[33]=iota arg out=float[33]
__global__ void copy_with_edges(const float *in, float *out)
{
    const int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
    out[i] = in[i] + 0.5f;
}
