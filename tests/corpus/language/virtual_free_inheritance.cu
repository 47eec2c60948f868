// Inheritance without virtual functions: members of bases, calls through CRTP, conversion of pointers to the base.
struct Base {
    int a;
    __host__ __device__ int get() const { return a; }
};
struct Derived : public Base {
    int b;
    __host__ __device__ Derived(int x, int y) : b(y) { a = x; }
    __host__ __device__ int sum() const { return get() + b; }
};
template <class D> struct Callable {
    __device__ int call() { return static_cast<D *>(this)->implementation(); }
};
struct Five : Callable<Five> {
    __device__ int implementation() { return 5; }
};
__device__ int read(const Base *p) { return p->a; }

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void inherit(int *x)
{
    Derived d(1, 2);
    Five five;
    x[threadIdx.x] = d.sum() + five.call() + read(&d);
    __assert(x[threadIdx.x] == 9);
}
