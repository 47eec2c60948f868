// Atomic operations built from a compare-and-swap, begun with a plain read as in the programming guide.
__device__ double add_double(double *address, double value)
{
    unsigned long long *as_words = (unsigned long long *)address;
    unsigned long long old = *as_words, assumed;
    do {
        assumed = old;
        old = atomicCAS(as_words, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__device__ void most(float *address, float value)
{
    float old = *address;
    while (value > old) {
        float assumed = old;
        old = __int_as_float(atomicCAS((int *)address, __float_as_int(assumed), __float_as_int(value)));
        if (old == assumed) break;
    }
}

// warpsmith: grid=3 block=48 arg sum=double[2]=zeros arg top=float[3]=zeros arg seen=int[4]=zeros
__global__ void combined(double *sum, float *top, int *seen)
{
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    add_double(&sum[id % 2], 0.5);
    most(top + id % 3, (float)id);
    int old = seen[id % 4], now;
    do {
        now = old;
        old = atomicCAS(&seen[id % 4], now, now + 1);
    } while (old != now);
    int mine = own, before;
    do {
        before = mine;
        mine = atomicCAS(&own, before, before + 2);
    } while (mine != before);
}
