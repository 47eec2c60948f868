// The n-th set bit of a word, and products of halves and bytes of words.
// warpsmith: grid=1 block=32 arg x=unsigned[32]=uninit
#include <cassert>
__global__ void bits(unsigned *x)
{
    unsigned mask = 0x0000b4d1u;
    assert(__fns(mask, 0, 1) == 0 && __fns(mask, 0, 2) == 4 && __fns(mask, 5, 1) == 6);
    assert(__fns(mask, 15, -1) == 15 && __fns(mask, 14, -2) == 12);
    assert(__fns(mask, 6, 0) == 6 && __fns(mask, 5, 0) == 0xffffffffu && __fns(mask, 16, 1) == 0xffffffffu);
    assert(__dp2a_lo(0x0002ffff, 0x01020304, 10) == 10 - 4 + 6);
    assert(__dp2a_hi(0x0002ffffu, 0xff020304u, 1u) == 1u + 65535u * 2u + 2u * 255u);
    x[threadIdx.x] = __fns(mask, threadIdx.x, 1);
}
