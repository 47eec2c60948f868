// Defect: the function hands out the address of its own array
// expect: dangling line=21
// expect: status=1

__device__ const float *weights(float x)
{
    float w[3];
    w[0] = 0.5f * (1.0f - x);
    w[1] = x;
    w[2] = 0.5f * (1.0f + x);
    const float *first = w;
    return first;
}

// warpsmith: grid=1 block=64 arg n=62 arg a=float[64] arg out=float[62]
__global__ void interpolate(int n, const float *a, float *out)
{
    int i = threadIdx.x;
    if (i >= n) return;
    const float *w = weights(a[i]);
    out[i] = w[0] * a[i] + w[1] * a[i + 1] + w[2] * a[i + 2];
}
