// Defect: the number of float4 elements is rounded up, so that the last vector passes the end of the buffer.
// expect: out-of-bounds line=10 array=in
// expect: status=1

// warpsmith: grid=1 block=32 arg in=float[101]=random arg out=float[128] arg n=101
__global__ void copy_vectors(const float *in, float *out, int n)
{
    const int i = threadIdx.x;
    if (i < (n + 3) / 4) {
        const float4 v = reinterpret_cast<const float4 *>(in)[i];
        reinterpret_cast<float4 *>(out)[i] = v;
    }
}
