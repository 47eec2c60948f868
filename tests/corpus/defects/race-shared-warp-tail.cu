// Defect: the last warp of the reduction relies on lockstep execution, no __syncwarp between its steps.
// expect: race-shared line=14 array=s
// expect: status=1

// warpsmith: grid=1 block=64 arg in=int[64]=iota arg out=int[1]
__global__ void reduce_tail(const int *in, int *out)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int k = 32; k > 0; k >>= 1)
            if (t < k) s[t] += s[t + k];
    }
    if (t == 0) out[0] = s[0];
}
