// Ballots and matches of lanes that happen to be together: bits stand for ranks in the group.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// warpsmith: grid=1 block=64 arg out=unsigned[64]
__global__ void ballots(unsigned *out)
{
    int i = threadIdx.x;
    if (i % 3 == 0) {
        cg::coalesced_group group = cg::coalesced_threads();
        unsigned odd = group.ballot(group.thread_rank() & 1);
        __assert(odd == (0xaaaaaaaau & ((1u << group.size()) - 1)));
        unsigned same = group.match_any(group.thread_rank() / 4);
        unsigned first = group.thread_rank() / 4 * 4;
        __assert(same == ((0xfu << first) & ((1u << group.size()) - 1)));
        out[i] = odd;
    }
    cg::coalesced_group all = cg::coalesced_threads();
    __assert(all.ballot(i % 32 < 5) == 0x1f);
}
