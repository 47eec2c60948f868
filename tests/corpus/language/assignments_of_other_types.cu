// Classes that can be assigned from other types: objects of the same class are copied as in any class.
#include <cassert>

struct Residue {
    unsigned v;
    Residue() = default;
    __device__ Residue(unsigned n) : v(n * 3) {}
    __device__ void operator=(unsigned n) { v = n * 3; }
    __device__ operator unsigned() const { return v / 3; }
};

struct Tagged {
    int value, tag;
    template <typename T> __device__ Tagged &operator=(const T &t)
    {
        value = (int)t;
        tag = 1;
        return *this;
    }
};

struct Counted {
    int value, copies;
    __device__ Counted &operator=(int n)
    {
        value = n;
        return *this;
    }
    __device__ Counted &operator=(const Counted &o)
    {
        value = o.value;
        copies = o.copies + 1;
        return *this;
    }
};

// warpsmith: grid=1 block=32 arg out=unsigned[32]
__global__ void assigned(unsigned *out)
{
    Residue a, b;
    a = threadIdx.x;
    assert(a.v == 3 * threadIdx.x);
    b = a;
    assert(b.v == a.v && (unsigned)b == threadIdx.x);
    Residue many[2];
    many[1] = 5u;
    many[0] = many[1];
    assert(many[0].v == 15);
    Tagged s{4, 7}, t{0, 0};
    t = s;
    assert(t.value == 4 && t.tag == 7);
    t = 2.5f;
    assert(t.value == 2 && t.tag == 1);
    Counted c{1, 0}, d{0, 0};
    d = c;
    d = d;
    assert(d.value == 1 && d.copies == 2);
    d = 9;
    assert(d.value == 9 && d.copies == 2);
    out[threadIdx.x] = b;
}
