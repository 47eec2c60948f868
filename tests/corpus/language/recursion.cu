// Functions that call themselves, directly and through each other; what lies in a frame, and pointers into frames below.
struct Pair {
    int sum, deepest;
};

__device__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__device__ bool odd(unsigned n);
__device__ bool even(unsigned n)
{
    if (n == 0) return true;
    return odd(n - 1);
}
__device__ bool odd(unsigned n)
{
    if (n == 0) return false;
    return even(n - 1);
}

// Loops around calls, `break` and `continue` in them, an array in each frame.
__device__ int placements(int row, int n, unsigned columns, unsigned left, unsigned right, int *depth)
{
    if (row > *depth) *depth = row;
    if (row == n) return 1;
    int found[8] = {0};
    for (int c = 0; c < n; c++) {
        unsigned bit = 1u << c;
        if ((columns | left | right) & bit) continue;
        found[c] = placements(row + 1, n, columns | bit, (left | bit) << 1, (right | bit) >> 1, depth);
    }
    int sum = 0;
    for (int c = 0;; c++) {
        if (c == n) break;
        sum += found[c];
    }
    return sum;
}

__device__ Pair walk(const int *left, const int *right, int node, int level)
{
    Pair here = {node, level};
    if (node < 0) return Pair{0, level - 1};
    const int *sides[2] = {left, right};
    for (const int *side : sides) {
        Pair below = walk(left, right, side[node], level + 1);
        here.sum += below.sum;
        if (below.deepest > here.deepest) here.deepest = below.deepest;
    }
    return here;
}

__device__ void sort(int *a, int first, int last)
{
    if (first >= last) return;
    int pivot = a[(first + last) / 2], i = first, j = last;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i > j) break;
        int held = a[i];
        a[i++] = a[j];
        a[j--] = held;
    }
    sort(a, first, j);
    sort(a, i, last);
}

template <typename T> __device__ T power(T x, int n)
{
    switch (n) {
    case 0:
        return T(1);
    case 1:
        break;
    default: {
        T half = power(x, n / 2);
        return n % 2 ? half * half * x : half * half;
    }
    }
    return x;
}

struct Counter {
    int calls;
    __device__ int ackermann(int m, int n)
    {
        calls++;
        if (m == 0) return n + 1;
        if (n == 0) return ackermann(m - 1, 1);
        return ackermann(m - 1, ackermann(m, n - 1));
    }
};

// warpsmith: grid=2 block=40 arg x=int[80]
__global__ void numbers(int *x)
{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    const int expected[10] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
    x[i] = fib(t % 10);
    __assert(x[i] == expected[t % 10]);
    __assert(even(t) == (t % 2 == 0));
    int depth = 0;
    int ways = placements(0, t % 2 ? 6 : 5, 0, 0, 0, &depth);
    __assert(ways == (t % 2 ? 4 : 10));
    __assert(depth == (t % 2 ? 6 : 5));
    __assert(power(3, 5) == 243);
    __assert(power(2.0, 10) == 1024.0);
    Counter counter = {0};
    __assert(counter.ackermann(2, t % 3) == 2 * (t % 3) + 3);
    __assert(counter.calls > 0);
}

// warpsmith: grid=1 block=16 arg left=int[7]=iota arg right=int[7]=iota arg a=int[16][12]=random
__global__ void trees_and_sorting(int *left, int *right, int *a)
{
    int t = threadIdx.x;
    if (t < 7) {
        left[t] = t < 3 ? 2 * t + 1 : -1;
        right[t] = t < 3 ? 2 * t + 2 : -1;
    }
    __syncthreads();
    Pair all = walk(left, right, 0, 0);
    __assert(all.sum == 21);
    __assert(all.deepest == 2);
    sort(a + 12 * t, 0, 11);
    for (int i = 1; i < 12; i++) __assert(a[12 * t + i - 1] <= a[12 * t + i]);
}
