// Null pointers as an arm of a condition.
// warpsmith: grid=1 block=32 arg x=float[32] arg n=3
__global__ void arms(float *x, int n)
{
    float *p = n > 2 ? x : nullptr;
    const float *q = n < 2 ? NULL : x;
    float *r = n == 0 ? nullptr : p;
    if (p && q != nullptr && r) p[threadIdx.x] = 1.0f;
    __assert(x[threadIdx.x] == 1.0f);
}
