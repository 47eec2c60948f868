// Defect: a scan over blocks that publishes its sum without a fence.
// expect: race-global line=13 array=sums
// expect: status=1

// warpsmith: grid=5 block=1 arg in=int[5]=iota arg sums=int[5] arg state=int[5]=zeros arg out=int[5]
__global__ void look_back(const int *in, int *sums, int *state, int *out)
{
    int b = blockIdx.x, before = 0;
    if (b > 0) {
        while (atomicAdd(&state[b - 1], 0) == 0)
            ;
        __threadfence();
        before = sums[b - 1];
    }
    sums[b] = before + in[b];
    ;
    atomicExch(&state[b], 1);
    out[b] = before;
}
