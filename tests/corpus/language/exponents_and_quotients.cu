// Exponents of numbers, and the quotients that go with remainders.
// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void exponents(float *x)
{
    int t = threadIdx.x, q = 0;
    float v = ldexpf(1.5f, t - 16);
    __assert(ilogbf(v) == t - 16);
    __assert(logbf(v) == (float)(t - 16));
    __assert(ilogb(0.75) == -1 && logb(0.75) == -1.0);
    __assert(ilogb(0.0) < -1000000);
    float r = remquof(t + 0.25f, 3.0f, &q);
    __assert(r == remainderf(t + 0.25f, 3.0f));
    __assert(q == (int)rintf((t + 0.25f) / 3.0f) % 8);
    __assert(remquo(-7.0, 2.0, &q) == 1.0 && q == -4);
    x[t] = r;
}
