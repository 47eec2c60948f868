// Products whose factors look like casts.
// warpsmith: grid=1 block=32 arg a=float[32] arg x=float[32] arg b=2
__global__ void products(const float *a, float *x, float b)
{
    int i = threadIdx.x;
    float p = b * (a[i]) + b * b;
    p += (b) * (a[i]) - (a[i]) * (b);
    __assert(p == b * a[i] + 4.0f);
    x[i] = (a[i]) - p;
}
