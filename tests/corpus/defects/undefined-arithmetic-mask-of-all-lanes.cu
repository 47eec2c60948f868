// Defect: the mask of the lanes below is made by a shift that is 32 for the first lane.
// expect: undefined-arithmetic line=9
// expect: status=1

// warpsmith: grid=1 block=32 arg rank=unsigned[32]
__global__ void ranks(unsigned *rank)
{
    unsigned lane = threadIdx.x % 32;
    unsigned below = 0xffffffffu >> (32 - lane);
    rank[threadIdx.x] = __popc(__ballot_sync(0xffffffffu, threadIdx.x & 1) & below);
}
