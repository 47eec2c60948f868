// Virtual functions: overridden, inherited, pure, through pointers and references, from constructors, with two bases.
struct Shape {
    float scale = 2.0f;
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
    __device__ float scaled() const { return scale * area(); }
    __device__ virtual ~Shape() {}
};

struct Circle : Shape {
    float r;
    __device__ Circle(float r_) : r(r_) {}
    __device__ float area() const override { return 3.0f * r * r; }
};

struct Rectangle : Shape {
    float w, h;
    __device__ Rectangle(float a, float b) : w(a), h(b) { scale = 1.0f; }
    __device__ float area() const override { return w * h; }
    __device__ int corners() const override { return 4; }
};

struct Square final : Rectangle {
    __device__ Square(float a) : Rectangle(a, a) {}
    __device__ int corners() const override { return Rectangle::corners() + 100; }
};

struct Named {
    __device__ virtual int name() const { return 1; }
    int padding = 7;
};

struct Both : Circle, Named {
    int own;
    __device__ Both(int k) : Circle(1.0f), own(k) {}
    __device__ int name() const override { return own; }
};

// What a constructor calls is the function of its own class.
struct Base {
    int seen;
    __device__ Base() { seen = kind(); }
    __device__ virtual int kind() { return 1; }
};
struct Derived : Base {
    __device__ int kind() override { return 2; }
};

// A tree whose nodes call each other.
struct Node {
    __device__ virtual int value() const = 0;
};
struct Leaf : Node {
    int v;
    __device__ Leaf(int x) : v(x) {}
    __device__ int value() const { return v; }
};
struct Sum : Node {
    const Node *a, *b;
    __device__ Sum(const Node *x, const Node *y) : a(x), b(y) {}
    __device__ int value() const { return a->value() + b->value(); }
};

template <typename T> struct Op {
    __device__ virtual T operator()(T a, T b) const = 0;
};
template <typename T> struct Add : Op<T> {
    __device__ T operator()(T a, T b) const override { return a + b; }
};
template <typename T> struct Times : Op<T> {
    __device__ T operator()(T a, T b) const override { return a * b; }
};
template <typename T> __device__ T folded(const Op<T> &op, int n)
{
    T all = T(1);
    for (int i = 1; i <= n; i++) all = op(all, T(i));
    return all;
}

// warpsmith: grid=1 block=64 arg x=float[64]
__global__ void shapes(float *x)
{
    int t = threadIdx.x;
    Shape *shape;
    switch (t % 4) {
    case 0: shape = new Circle(t); break;
    case 1: shape = new Rectangle(t, 2); break;
    case 2: shape = new Square(t); break;
    default: shape = new Both(t); break;
    }
    x[t] = shape->scaled();
    const int corners[4] = {0, 4, 104, 0};
    __assert(shape->corners() == corners[t % 4]);
    if (t % 4 == 0) __assert(x[t] == 6.0f * t * t);
    if (t % 4 == 1) __assert(x[t] == 2.0f * t);
    if (t % 4 == 2) __assert(x[t] == 1.0f * t * t);
    if (t % 4 == 3) {
        Both *both = static_cast<Both *>(shape);
        const Named &named = *both;
        __assert(named.name() == t && named.padding == 7 && both->scaled() == 6.0f);
    }
    delete shape;
}

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void constructors_and_trees(int *x)
{
    int t = threadIdx.x;
    Derived d;
    Base &b = d;
    __assert(d.seen == 1 && b.kind() == 2 && b.Base::kind() == 1);
    Base sliced = d;
    __assert(sliced.kind() == 1);
    Leaf one(t), two(2 * t);
    Sum three(&one, &two), four(&three, &one);
    const Node *top = t % 2 ? static_cast<const Node *>(&four) : &three;
    x[t] = top->value();
    __assert(x[t] == (t % 2 ? 4 * t : 3 * t));
    Derived *many = new Derived[3];
    Base *last = &many[2];
    __assert(many[1].seen == 1 && last->kind() == 2);
    delete[] many;
    __assert(folded<int>(Add<int>(), 4) == 11);
    __assert(folded<double>(Times<double>(), 5) == 120.0);
}
