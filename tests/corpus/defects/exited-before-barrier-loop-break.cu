// A thread leaves the kernel from within the loop when its counter is used up, before the others' next barrier: a note.
// expect: exited-before-barrier line=15
// expect: status=0

// warpsmith: grid=1 block=32 arg x=int[32]=iota arg rounds=4
__global__ void pass_to_the_left(int *x, int rounds)
{
    __shared__ int s[2][33];
    const int t = threadIdx.x;
    int v = x[t];
    if (t == 0) s[0][32] = s[1][32] = 100;
    for (int r = 0; r < rounds; ++r) {
        if (t < r) return;  // the left end is done
        s[r & 1][t] = v;
        __syncthreads();
        v = s[r & 1][t + 1];
        x[t] = v;
    }
}
