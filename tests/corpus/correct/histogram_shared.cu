// Privatised shared histogram: zero, barrier, shared atomics, barrier, merge by global atomics with a skip of zero bins.
#define NUM_BINS 64

// warpsmith: grid=3 block=64 arg n=600 arg values=uint[600]=random arg bins=uint[64]
// warpsmith: grid=2 block=40 arg n=333 arg values=uint[333]=iota arg bins=uint[64]
__global__ void histogram(const unsigned int *values, unsigned int *bins, int n)
{
    __shared__ unsigned int local_bins[NUM_BINS];
    for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x) local_bins[b] = 0u;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned int v = __ldg(&values[i]);
        atomicAdd(&local_bins[(v ^ (v >> 7)) % NUM_BINS], 1u);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < NUM_BINS; b += blockDim.x) {
        unsigned int count = local_bins[b];
        if (count) atomicAdd(bins + b, count);
    }
}
