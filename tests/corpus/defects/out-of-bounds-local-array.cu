// Defect: a per-thread array of four elements is filled by a loop that runs five times.
// expect: out-of-bounds line=10 array=window
// expect: status=1

// warpsmith: grid=1 block=32 arg in=int[36]=iota arg out=int[32]
__global__ void moving_sum(const int *in, int *out)
{
    int window[4];
    for (int k = 0; k <= 4; ++k)
        window[k] = in[threadIdx.x + k];
    out[threadIdx.x] = window[0] + window[1] + window[2] + window[3];
}
