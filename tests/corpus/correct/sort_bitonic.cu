// Bitonic sort of one block in shared memory with key-value pairs: a device function taking references, barrier in a loop nest.
#define SHARED_SIZE 128

__device__ inline void Comparator(unsigned &keyA, unsigned &valA, unsigned &keyB, unsigned &valB, unsigned dir)
{
    if ((keyA > keyB) == dir) {
        unsigned t;
        t = keyA; keyA = keyB; keyB = t;
        t = valA; valA = valB; valB = t;
    }
}

// warpsmith: grid=1 block=64 arg key=uint[128]=random arg val=uint[128]=iota arg len=128 arg dir=1
// warpsmith: grid=3 block=16 arg key=uint[96]=random(5) arg val=uint[96]=iota arg len=32 arg dir=0
__global__ void bitonicSortShared(unsigned *key, unsigned *val, unsigned len, unsigned dir)
{
    __shared__ unsigned s_key[SHARED_SIZE];
    __shared__ unsigned s_val[SHARED_SIZE];
    const unsigned half = len / 2;
    key += blockIdx.x * len;
    val += blockIdx.x * len;
    s_key[threadIdx.x] = key[threadIdx.x];
    s_val[threadIdx.x] = val[threadIdx.x];
    s_key[threadIdx.x + half] = key[threadIdx.x + half];
    s_val[threadIdx.x + half] = val[threadIdx.x + half];

    for (unsigned size = 2; size < len; size <<= 1) {
        unsigned ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (unsigned stride = len / 2; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], dir);
    }
    __syncthreads();

    key[threadIdx.x] = s_key[threadIdx.x];
    val[threadIdx.x] = s_val[threadIdx.x];
    key[threadIdx.x + half] = s_key[threadIdx.x + half];
    val[threadIdx.x + half] = s_val[threadIdx.x + half];
}
