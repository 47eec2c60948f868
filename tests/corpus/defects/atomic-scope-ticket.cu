// Defect: the ticket that chooses the last block has the scope of a block.
// expect: atomic-scope line=10 array=ticket
// expect: status=1

// warpsmith: grid=4 block=1 arg in=float[4]=random arg partial=float[4] arg ticket=uint[1]=zeros arg out=float[1]
__global__ void last_block(const float *in, volatile float *partial, unsigned *ticket, float *out)
{
    partial[blockIdx.x] = 2.0f * in[blockIdx.x];
    __threadfence();
    if (atomicAdd_block(ticket, 1u) == gridDim.x) {
        __threadfence();
        float sum = 0.f;
        for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
        *out = sum;
    }
}
