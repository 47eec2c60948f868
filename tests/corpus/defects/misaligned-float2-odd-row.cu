// Defect: rows of 7 floats are read as float2, which fits on even rows only.
// expect: misaligned line=9 array=m
// expect: status=1

// warpsmith: grid=1 block=3,4 arg m=float[4][7]=random arg out=float[4][3] arg pitch=7
__global__ void row_pairs(const float *m, float *out, int pitch)
{
    const float2 *row = (const float2 *)(m + threadIdx.y * pitch);
    const float2 p = row[threadIdx.x];
    out[threadIdx.y * 3 + threadIdx.x] = p.x - p.y;
}
