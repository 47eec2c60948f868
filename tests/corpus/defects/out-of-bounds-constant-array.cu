// Defect: the tap loop runs one past the end of a constant array.
// expect: out-of-bounds line=11 array=taps
// expect: status=1
__constant__ float taps[3] = {0.25f, 0.5f, 0.25f};

// warpsmith: grid=1 block=32 arg in=float[35]=random arg out=float[32]
__global__ void fir(const float *in, float *out)
{
    float acc = 0.0f;
    for (int k = 0; k < 4; ++k) {
        const float tap = taps[k];
        acc = k < 3 ? acc + tap * in[threadIdx.x + k] : acc;
    }
    out[threadIdx.x] = acc;
}
