// Constructors, destructors, operators and static members that are defined outside of their classes.
template <typename T> class Interval {
public:
    __host__ __device__ Interval();
    __host__ __device__ Interval(T const &v);
    __host__ __device__ Interval(T const &l, T const &u);
    __host__ __device__ T const &lower() const;
    __host__ __device__ T width() const;
    __host__ __device__ Interval &operator+=(Interval const &other);
    static __host__ __device__ Interval unit();

private:
    T low, up;
};
template <typename T> inline __host__ __device__ Interval<T>::Interval() : low(1), up(2) {}
template <typename T> inline __host__ __device__ Interval<T>::Interval(T const &v) : low(v), up(v) {}
template <typename T> inline __host__ __device__ Interval<T>::Interval(T const &l, T const &u) : low(l), up(u) {}
template <typename T> inline __host__ __device__ T const &Interval<T>::lower() const { return low; }
template <typename T> inline __host__ __device__ T Interval<T>::width() const { return up - low; }
template <typename T> inline __host__ __device__ Interval<T> &Interval<T>::operator+=(Interval<T> const &other)
{
    low += other.low;
    up += other.up;
    return *this;
}
template <typename T> inline __host__ __device__ Interval<T> Interval<T>::unit() { return Interval(T(0), T(1)); }

class Counter {
    int *count;
    int by;

public:
    __device__ Counter(int *c, int step = 1);
    __device__ Counter(const Counter &other);
    __device__ ~Counter();
};
__device__ Counter::Counter(int *c, int step) : count(c), by(step) { *count += by; }
__device__ Counter::Counter(const Counter &other) : count(other.count), by(100) { *count += by; }
__device__ Counter::~Counter() { *count -= by; }

struct Base {
    int v = 3;
    __device__ int f() const { return v; }
};
struct Derived : Base {
    int v = 4;
    __device__ int f() const { return 10 * v + Base::f(); }
};

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void members(float *x)
{
    int t = threadIdx.x, count = 0;
    Interval<float> none, point(t), range(t, t + 2.5f), all[3];
    __assert(none.width() == 1.0f && point.width() == 0.0f && range.width() == 2.5f);
    __assert(all[1].lower() == 1.0f && all[2].width() == 1.0f);
    range += Interval<float>::unit();
    __assert(range.lower() == t && range.width() == 3.5f);
    {
        Counter one(&count), five(&count, 5);
        __assert(count == 6);
        Counter copy = five;
        __assert(count == 106);
    }
    __assert(count == 0);
    Derived d;
    Derived *p = &d;
    __assert(d.f() == 43 && d.Base::f() == 3 && p->Base::v == 3 && p->v == 4);
    x[t] = range.width();
}

// What a member function is for some arguments of its class, with and without a body for all others.
template <class T> struct Rounded {
    __device__ T down(T a, T b);
    __device__ int bytes() const { return 1; }
};
template <class T> __device__ T Rounded<T>::down(T a, T b) { return a - b; }
template <> __device__ inline float Rounded<float>::down(float a, float b) { return __fadd_rd(a, b); }
template <> __device__ inline int Rounded<double>::bytes() const { return 8; }

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void rounded(float *x)
{
    Rounded<float> f;
    Rounded<double> d;
    x[threadIdx.x] = f.down(3.0f, 1.0f);
    __assert(x[threadIdx.x] == 4.0f && d.down(3.0, 1.0) == 2.0);
    __assert(f.bytes() == 1 && d.bytes() == 8);
}
