// Defect: the position of a match decides a branch although there may be no match.
// expect: uninitialized-local line=11
// expect: status=1

// warpsmith: grid=1 block=16 arg x=int[16][4]=iota arg out=int[16] arg key=9
__global__ void find_in_row(const int *x, int *out, int key)
{
    int at;
    for (int k = 0; k < 4; ++k)
        if (x[threadIdx.x * 4 + k] == key) at = k;
    if (at >= 2)
        out[threadIdx.x] = 1;
}
