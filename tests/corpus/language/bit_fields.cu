// Bit-fields: signs, promotions, words that end, members of unions, lists, words that nothing filled before.
#include <cassert>
struct Flags {
    unsigned kind : 3, alive : 1;
    int charge : 4;
    unsigned : 0;
    unsigned age : 12;
    bool seen : 1;
    unsigned char tag;
};
static_assert(sizeof(Flags) == 8, "two words, with the byte in the second");

struct Plain {
    unsigned kind : 3, alive : 1;
    int charge : 4;
};

union Word {
    unsigned whole;
    struct {
        unsigned low : 16, high : 16;
    } halves;
};

struct Key {
    unsigned long long place : 40, value : 24;
};

struct Level {
    unsigned char a : 1, b : 1, depth : 6;
    __device__ Level(int d) : a(1), b(0), depth(d) {}
    __device__ void deeper() { depth++; }
};

// warpsmith: grid=2 block=32 arg flags=Flags[64] arg words=Word[64] arg keys=Key[64] arg n=64
__global__ void fields(Flags *flags, Word *words, Key *keys, int n)
{
    __shared__ Plain tile[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i >= n) return;
    Flags f;
    f.age = 7;
    f.kind = i;
    f.alive = i & 1;
    f.charge = 8 - i % 16;
    f.seen = i;
    f.tag = 255;
    assert(f.kind == (i & 7) && f.tag == 255);
    assert(f.charge == (i % 16 == 0 ? -8 : 8 - i % 16));
    // An `unsigned` of 3 bits is an `int` where it is computed with.
    assert(f.kind - 8 < 0);
    f.kind += 9;
    f.age--;
    assert(f.kind == ((i + 9) & 7) && f.age == 6 && f.age++ == 6 && ++f.age == 8);
    assert((f.charge = 9) == -7 && f.seen == (i != 0));
    tile[t].kind = 5;
    tile[t].alive = 1;
    tile[t].charge = f.charge;
    __syncthreads();
    assert(tile[31 - t].kind == 5 && tile[31 - t].charge == -7);
    flags[i] = f;
    Word w;
    w.whole = 0x12345678u + i;
    unsigned low = w.halves.low;
    w.halves.low = w.halves.high;
    w.halves.high = low;
    assert(w.whole == ((0x12345678u + i) << 16 | 0x1234u));
    words[i] = w;
    Key k = {1ull << 39 | i, 77};
    k.value -= 78;
    assert(k.place == (1ull << 39) + i && k.value == 0xffffff);
    keys[i] = k;
    Flags listed = {1, 1, -3};
    assert(listed.kind == 1 && listed.charge == -3 && listed.age == 0 && !listed.seen && listed.tag == 0);
    Level level(62);
    level.deeper();
    assert(level.depth == 63 && level.a && !level.b);
    level.deeper();
    assert(level.depth == 0 && level.a == 1);
}
