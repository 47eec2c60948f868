// Argmin over structs of value and index in shared memory, ties broken by the index; operator< and a 64-bit packed atomicMin.
struct Pair {
    float value;
    int index;
};

__device__ bool operator<(const Pair &a, const Pair &b)
{
    return a.value < b.value || (a.value == b.value && a.index < b.index);
}

__device__ unsigned long long pack(Pair p)
{
    // order-preserving bits of a float: flip all of a negative, the sign of a positive
    unsigned bits = __float_as_uint(p.value);
    bits = (bits & 0x80000000u) ? ~bits : (bits | 0x80000000u);
    return ((unsigned long long)bits << 32) | (unsigned)p.index;
}

// warpsmith: grid=1 block=1 arg best=ulong[1]
__global__ void init_best(unsigned long long *best) { *best = ~0ull; }

// warpsmith: grid=3 block=32 arg x=float[83]=random arg n=83 arg best=ulong[1]
__global__ void argmin(const float *x, int n, unsigned long long *best)
{
    __shared__ Pair pairs[64];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    Pair mine = {1e30f, 0x7fffffff};
    if (i < n) {
        mine.value = x[i];
        mine.index = i;
    }
    pairs[t] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s && pairs[t + s] < pairs[t]) pairs[t] = pairs[t + s];
        __syncthreads();
    }
    if (t == 0) atomicMin(best, pack(pairs[0]));
}

// warpsmith: run init_best, argmin
