// Destructors in kernels: at the end of blocks, loops and functions, by `return`, `break`, `continue` and `delete`, of members and bases.
struct Guard {
    int *count;
    int by;
    __device__ Guard(int *c, int b = 1) : count(c), by(b) { *count += by; }
    __device__ ~Guard() { *count -= by; }
};

struct Member {
    Guard guard;
    __device__ Member(int *c) : guard(c, 10) {}
};
struct Derived : Member {
    int *last;
    __device__ Derived(int *c, int *l) : Member(c), last(l) {}
    __device__ ~Derived() { *last = *guard.count; }
};

template <typename T> class Stack {
    T *data;
    int top;

public:
    __device__ Stack(int room) : top(0) { data = new T[room]; }
    __device__ ~Stack() { delete[] data; }
    __device__ void push(T v) { data[top++] = v; }
    __device__ T pop() { return data[--top]; }
    __device__ bool empty() const { return top == 0; }
};

__device__ int early(int *count, int n)
{
    Guard outer(count);
    for (int i = 0; i < 10; i++) {
        Guard inner(count, 2);
        if (i == n) return *count;
        if (i % 2) continue;
        if (i == 8) break;
    }
    return -*count;
}

struct Owner {
    virtual __device__ ~Owner() {}
};
struct Counted : Owner {
    int *count;
    __device__ Counted(int *c) : count(c) { ++*count; }
    __device__ ~Counted() { --*count; }
};

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void ends(int *x)
{
    int t = threadIdx.x, count = 0, last = -1;
    {
        Guard a(&count), b(&count, 5);
        __assert(count == 6);
    }
    __assert(count == 0);
    __assert(early(&count, t % 4) == 3);
    __assert(count == 0);
    __assert(early(&count, 20) == -1);
    __assert(count == 0);
    {
        Derived d(&count, &last);
        __assert(count == 10);
    }
    __assert(count == 0 && last == 10);
    {
        Guard all[3] = {Guard(&count), Guard(&count), Guard(&count)};
        __assert(all[2].by == 1);
    }
    __assert(count == 0);
    Owner *owner = new Counted(&count);
    __assert(count == 1);
    delete owner;
    __assert(count == 0);
    Stack<int> stack(8);
    for (int i = 0; i < 5; i++) stack.push(t + i);
    int sum = 0;
    while (!stack.empty()) sum += stack.pop();
    x[t] = sum;
    __assert(sum == 5 * t + 10);
}
