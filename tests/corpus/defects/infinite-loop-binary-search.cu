// Defect: the lower bound does not move when two elements are left.
// expect: infinite-loop line=9
// expect: status=1

// warpsmith: grid=1 block=4 arg sorted=int[16]=iota arg out=int[4] arg n=16
__global__ void lower_bound(const int *sorted, int *out, int n)
{
    int lo = 0, hi = n;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (sorted[mid] <= (int)threadIdx.x + 4)
            lo = mid;
        else
            hi = mid;
    }
    out[threadIdx.x] = lo;
}
