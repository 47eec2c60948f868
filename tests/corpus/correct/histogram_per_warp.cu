// One shared sub-histogram a warp, merged after the barrier: 2-D shared array, uchar4 unpacking, do-while.
#define WARPS 4
#define BINS 32

struct SubHistogram {
    unsigned *bins;
    __device__ void add(unsigned char v) { atomicAdd(bins + (v >> 3), 1u); }
};

// warpsmith: grid=2 block=128 arg data=uchar4[300]=random arg count=300 arg result=uint[32]
// warpsmith: grid=1 block=128 arg data=uchar4[45]=random arg count=45 arg result=uint[32]
__global__ void __launch_bounds__(WARPS * 32) histogram_per_warp(const uchar4 *data, int count, unsigned *result)
{
    __shared__ unsigned sub[WARPS][BINS];
    const int warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < WARPS * BINS; i += blockDim.x) (&sub[0][0])[i] = 0;
    __syncthreads();

    SubHistogram mine{sub[warp]};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        do {
            const uchar4 p = data[i];
            mine.add(p.x);
            mine.add(p.y);
            mine.add(p.z);
            mine.add(p.w);
            i += gridDim.x * blockDim.x;
        } while (i < count);
    }
    __syncthreads();

    if (threadIdx.x < BINS) {
        unsigned sum = 0;
        for (int w = 0; w < WARPS; w++) sum += sub[w][threadIdx.x];
        atomicAdd(&result[threadIdx.x], sum);
    }
}
