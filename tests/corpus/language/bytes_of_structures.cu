// memcpy and memset of structures, vectors behind casts, a union of a float and its bits.
#include <cstring>
struct Four {
    int a[4];
};
// warpsmith: grid=1 block=32 arg x=int[128]=iota arg y=int[128]
__global__ void bytes(const int *x, int *y)
{
    Four s;
    int first = 4 * threadIdx.x;
    memcpy(&s, x + first, sizeof(Four));
    memset(y + first, 0, 16);
    memcpy(y + first, s.a, sizeof s.a);
    int4 v = *reinterpret_cast<const int4 *>(x + first);
    y[first] += v.x;
    union {
        float f;
        int i;
    } bits;
    bits.f = 1.0f;
    y[first] += bits.i;
    __assert(y[first] == 2 * first + 0x3f800000 && y[first + 3] == first + 3);
}
