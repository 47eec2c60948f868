// Defect: thread 0 reads element -1 of a shared array.
// expect: out-of-bounds line=12 array=s
// expect: status=1

// warpsmith: grid=1 block=32 arg in=float[32]=iota arg out=float[32]
__global__ void left_difference(const float *in, float *out)
{
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    const float left = s[t - 1];
    out[t] = t > 0 ? in[t] - left : in[t];
}
