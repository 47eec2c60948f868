// Cooperative groups at warp level: lanes exchange data through shared memory ordered by tile.sync() alone.
#include <cooperative_groups.h>
using namespace cooperative_groups;

// warpsmith: grid=1 block=64 arg data=float[64]=random
__global__ void warp_transpose(float *data)
{
    __shared__ float s[2][32];
    auto warp = tiled_partition<32>(this_thread_block());
    const int w = threadIdx.x / 32, lane = warp.thread_rank();

    s[w][lane] = data[threadIdx.x];
    warp.sync();
    float v = s[w][(lane % 4) * 8 + lane / 4];
    warp.sync();
    s[w][lane] = v * 2.0f;
    warp.sync();
    data[threadIdx.x] = s[w][31 - lane];
}
