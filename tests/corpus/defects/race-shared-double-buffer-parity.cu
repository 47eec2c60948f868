// Defect: the next tile is loaded into the buffer that is being read (cur instead of cur ^ 1).
// expect: race-shared line=16 array=buf
// expect: status=1

// warpsmith: grid=1 block=32 arg in=float[128]=iota arg out=float[32] arg tiles=4
__global__ void stream_tiles(const float *in, float *out, int tiles)
{
    __shared__ float buf[2][32];
    const int t = threadIdx.x;
    int cur = 0;
    float acc = 0.0f;
    buf[0][t] = in[t];
    buf[1][t] = 0.0f;
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) buf[cur][t] = in[(k + 1) * 32 + t];
        acc += buf[cur][31 - t] - buf[cur ^ 1][(t + 1) & 31];
        __syncthreads();
        cur ^= 1;
    }
    out[t] = acc;
}
