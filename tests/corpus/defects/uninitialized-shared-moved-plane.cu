// What shared memory holds at first is moved along in it, and reaches the result two steps later.
// expect: uninitialized-shared line=12 array=line
// expect: status=1
// warpsmith: grid=1 block=32 arg in=float[64] arg out=float[64]
__global__ void shift(const float *in, float *out)
{
    __shared__ float line[96];
    int t = threadIdx.x;
    line[t + 64] = in[t];
    for (int k = 0; k < 2; k++) {
        line[t] = line[t + 32];
        out[t + k * 32] = line[t] + line[t + 64];
        line[t + 32] = line[t + 64];
        line[t + 64] = in[t + 32];
    }
}
