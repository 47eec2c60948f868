// Loop heads that declare several variables, inside other loops: the bounds must outlive the bodies, whatever else is computed there.
#include <assert.h>

// warpsmith: grid=1 block=8 arg b=uint[8]=iota arg out=uint[8]
// warpsmith: grid=2 block=5 arg b=uint[10]=iota arg out=uint[10]
__global__ void loop_heads(const unsigned *b, unsigned *out)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned rounds = 0, last = 0;
    for (unsigned j = 0u; j < 2u; j++) {
        for (unsigned k = 0u, end = b[4] + 2u; k < end; k++) {
            rounds++;
            last = b[1] << (k & 31u);
        }
    }
    assert(rounds == 12u && last == 32u);

    // the counter moves in the middle of the body, and its own bits are used after that
    unsigned sum = 0;
    for (int outer = 0; outer < 3; ++outer) {
        for (unsigned k = i & 1u, end = b[3]; k < end;) {
            k += 1u;
            const unsigned low = k & 1u, high = k >> 1;
            sum += low * 3u + high;
        }
    }
    assert(sum == (i & 1u ? 15u : 24u));
    out[i] = rounds + sum;
}
