// Fully unrolled template reduction whose last warp is ordered by __syncwarp: the modern form of the classic tail.

template <unsigned int BLOCK, typename T>
__device__ void warp_tail(T *s, unsigned int tid)
{
    T v = s[tid];
    if (BLOCK >= 64) { v += s[tid + 32]; __syncwarp(); s[tid] = v; __syncwarp(); }
    v += s[tid + 16]; __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 8];  __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 4];  __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 2];  __syncwarp(); s[tid] = v; __syncwarp();
    v += s[tid + 1];  __syncwarp(); s[tid] = v;
}

// warpsmith: kernel='reduce_unrolled<64,float>' grid=2 block=64 arg n=512 arg g_idata=float[512]=random arg g_odata=float[2]
// warpsmith: kernel='reduce_unrolled<256,int>' grid=2 block=256 arg n=1331 arg g_idata=int[1331]=iota arg g_odata=int[2]
template <unsigned int BLOCK, typename T>
__global__ void reduce_unrolled(const T *g_idata, T *g_odata, unsigned int n)
{
    __shared__ T sdata[BLOCK];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (BLOCK * 2) + tid;
    unsigned int gridSize = BLOCK * 2 * gridDim.x;

    T acc = 0;
    while (i < n) {
        acc += g_idata[i];
        if (i + BLOCK < n) acc += g_idata[i + BLOCK];
        i += gridSize;
    }
    sdata[tid] = acc;
    __syncthreads();

    if (BLOCK >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; } __syncthreads(); }
    if (BLOCK >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
    if (BLOCK >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }

    if (tid < 32) warp_tail<BLOCK>(sdata, tid);
    if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}
