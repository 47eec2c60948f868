// Defect: continue jumps over the statement that advances the counter.
// expect: infinite-loop line=9
// expect: status=1

// warpsmith: grid=1 block=2 arg x=int[16] arg out=int[2] arg n=8
__global__ void count_nonzero(const int *x, int *out, int n)
{
    int count = 0, i = 0;
    while (i < n) {
        if (x[threadIdx.x * n + i] == 0) continue;
        ++count;
        ++i;
    }
    out[threadIdx.x] = count;
}
