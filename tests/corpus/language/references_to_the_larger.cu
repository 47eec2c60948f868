// References that functions return: to one of two arguments, to an object, to a part of it, to temporaries of the same statement.
template <class T> __device__ const T &larger(const T &a, const T &b) { return a > b ? a : b; }
template <class T> __device__ const T &same(const T &a) { return static_cast<const T &>(a); }
__device__ const int zero = 0;
__device__ const int &positive(const int &a) { return a > 0 ? a : zero; }
struct Pair {
    int a, b;
    __device__ Pair &add(int n) { a += n; return *this; }
    __device__ const int *first() const { return &a; }
    __device__ const Pair &self() const { return *this; }
    __device__ const int &most() const { return a < b ? b : a; }
};
__device__ Pair made(int n) { return Pair{n, n + 1}; }

// warpsmith: grid=1 block=32 arg out=int[32] arg n=5
__global__ void references(int *out, int n)
{
    int i = threadIdx.x, sum = larger(i + 1, 3);
    sum += larger(larger(i * 2, n + 1), same(n - i)) + positive(i - 3);
    for (int j = 0; j < 3; j++) {
        int v = j + i;
        const int &r = larger(v, j);
        int *p = &v;
        *p += 2;
        sum += r + *p;
    }
    sum += made(n).add(3).a + *made(i).first() + made(n).self().b + made(n).most();
    const Pair &kept = made(i);
    Pair &&moved = made(i);
    auto own = [&](const int &x) -> const int & { return x; };
    const int &chosen = i > 3 ? larger(i, n) : n;
    sum += kept.a + moved.b + own(i + 7) + chosen;
    int *behind = nullptr;
    {
        int &name = n;
        behind = &name;
    }
    switch (i & 1) {
    case 0: {
        int t = 3, *u = &t;
        sum += *u;
    } break;
    default: {
        int t = 4;
        sum += same(t);
    }
    }
    out[i] = sum + *behind;
}
