// Defect: an unsigned counter is always >= 0, so the countdown wraps around for ever.
// expect: infinite-loop line=9
// expect: status=1

// warpsmith: grid=1 block=4 arg x=int[4][8]=iota arg out=int[4]
__global__ void largest_bit(const int *x, int *out)
{
    int best = -1;
    for (unsigned char bit = 7; bit >= 0; --bit)
        if (x[threadIdx.x * 8 + (bit & 7)] > best) best = x[threadIdx.x * 8 + (bit & 7)];
    out[threadIdx.x] = best;
}
