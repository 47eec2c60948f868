// warpsmith: grid=1 block=32
// Conversions that begin a group, and the lengths of texts.
#include <cassert>

__device__ unsigned low(float x) { return (unsigned(x) & 3u); }
__device__ long twice(int x) { return (long(x) + long(x)); }

__global__ void grouped_conversions(unsigned *out)
{
    const int v = (int)threadIdx.x - 2;
    assert((unsigned(v) & 3u) == ((unsigned)v & 3u));
    assert(low(6.5f) == 2u && twice(-3) == -6l);
    assert((unsigned(v)) == (unsigned)v && (unsigned(v) > 5u) == (v < 0 || v > 5));
    unsigned (*f)(float) = low;
    assert(f(7.0f) == 3u && sizeof(unsigned) == 4);
    static_assert(sizeof("abc") == 4 && sizeof(("")) == 1 && sizeof "ab" == 3, "with the zero at the end");
    char text[sizeof("abcd")] = "abcd";
    out[threadIdx.x] = (unsigned(text[4]) + (unsigned)sizeof("a\n"));
}
