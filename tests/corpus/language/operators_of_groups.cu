// Scans of a tile with the operators of cooperative groups.
// warpsmith: grid=1 block=32 arg x=int[32]=uninit
#include <cassert>
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void scans(int *x)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int rank = tile.thread_rank(), v = rank * 7 % 16, most = 0, least = 16, all = 0;
    for (int i = 0; i <= rank; i++) {
        int w = i * 7 % 16;
        most = w > most ? w : most;
        least = w < least ? w : least;
        all ^= w;
    }
    int largest = cg::inclusive_scan(tile, v, cg::greater<int>());
    int smallest = cg::inclusive_scan(tile, v, cg::less<int>());
    int mixed = cg::inclusive_scan(tile, v, cg::bit_xor<int>());
    int before = cg::exclusive_scan(tile, v, cg::plus<int>());
    assert(largest == most && smallest == least && mixed == all && before >= 0);
    x[threadIdx.x] = cg::inclusive_scan(tile, v, cg::plus<int>()) - before - v;
    assert(x[threadIdx.x] == 0);
}
