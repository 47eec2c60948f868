// A double-buffered step needs one barrier; the one between reading the old and writing the new buffer orders nothing: a note.
// expect: redundant-barrier line=15
// expect: status=0

// warpsmith: grid=1 block=32 arg data=int[32]=iota arg steps=5
__global__ void rotate_left(int *data, int steps)
{
    __shared__ int s[2][32];
    const int t = threadIdx.x;
    int cur = 0;
    s[0][t] = data[t];
    __syncthreads();
    for (int k = 0; k < steps; ++k) {
        const int v = s[cur][(t + 1) & 31];
        __syncthreads();
        cur ^= 1;
        s[cur][t] = v;
        __syncthreads();
    }
    data[t] = s[cur][31 - t];
}
