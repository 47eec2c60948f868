// Defect: last-block reduction without any __threadfence: the partial sums are not ordered before the ticket.
// expect: race-global line=8 array=partial
// expect: status=1

// warpsmith: grid=4 block=1 arg in=float[4]=random arg partial=float[4] arg ticket=uint[1] arg out=float[1]
__global__ void last_block(const float *in, float *partial, unsigned *ticket, float *out)
{
    partial[blockIdx.x] = 2.0f * in[blockIdx.x];
    if (atomicAdd(ticket, 1u) == gridDim.x - 1) {
        float sum = 0.f;
        for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
        *out = sum;
    }
}
