// Defect: threads past n leave their slot unset, and every slot is stored afterwards.
// expect: uninitialized-shared line=12 array=s
// expect: status=1

// warpsmith: grid=1 block=64 arg in=float[50]=random arg out=float[64] arg n=50
__global__ void reverse_padded(const float *in, float *out, int n)
{
    __shared__ float s[64];
    const int t = threadIdx.x;
    if (t < n) s[t] = in[t];
    __syncthreads();
    out[t] = s[63 - t];
}
