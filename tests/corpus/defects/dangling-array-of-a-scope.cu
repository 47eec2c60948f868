// Defect: the pointer outlives the array of the inner block that it points to
// expect: dangling line=19
// expect: status=1

// warpsmith: grid=2 block=64 arg n=100 arg out=int[100]
__global__ void choose(int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int plain[2] = {i, -i};
    int *from = plain;
    if (i % 3 == 0) {
        int other[2];
        other[0] = 2 * i;
        other[1] = 3 * i;
        from = other;
    }
    int which = i & 1;
    out[i] = from[which];
}
