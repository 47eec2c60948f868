// Defect: the mean of a bin that no element fell into.
// expect: undefined-arithmetic line=10
// expect: status=1

// warpsmith: grid=1 block=32 arg sums=int[32]=iota arg counts=int[32]=iota arg means=int[32]
__global__ void mean_of_bins(const int *sums, const int *counts, int *means)
{
    int bin = threadIdx.x;
    if (bin < 32)
        means[bin] = sums[bin] / counts[bin];
}
