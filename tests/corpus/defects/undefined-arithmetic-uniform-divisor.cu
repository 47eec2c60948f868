// Defect: the rows are shared among as many groups as a parameter says, which may be none.
// expect: undefined-arithmetic line=8
// expect: status=1

// warpsmith: grid=1 block=64 arg out=double[64] arg rows=100 arg groups=0
__global__ void share(double *out, long long rows, int groups)
{
    long long each = rows / groups;
    out[threadIdx.x] = each * threadIdx.x;
}
