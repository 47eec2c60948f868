// Defect: all 32 lanes call the vote, but the mask names only the lower half.
// expect: divergent-barrier line=8
// expect: status=1

// warpsmith: grid=1 block=32 arg in=int[32]=iota arg out=uint[32]
__global__ void vote_wrong_mask(const int *in, unsigned *out)
{
    const unsigned votes = __ballot_sync(0x0000ffffu, in[threadIdx.x] & 1);
    out[threadIdx.x] = threadIdx.x < 16 ? votes : 0u;
}
