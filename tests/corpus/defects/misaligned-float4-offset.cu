// Defect: a float4 load at an offset of one float.
// expect: misaligned line=8 array=in
// expect: status=1

// warpsmith: grid=1 block=16 arg in=float[68]=random arg out=float[16]
__global__ void load_shifted(const float *in, float *out)
{
    const float4 v = *reinterpret_cast<const float4 *>(in + 4 * threadIdx.x + 1);
    out[threadIdx.x] = v.x + v.w;
}
