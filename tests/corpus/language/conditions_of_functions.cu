// Contracts in the style of GPUVerify: what a kernel requires filters launches, what a function requires its callers owe.
__device__ int next(int i, int n)
{
    __requires(__implies(__enabled(), i >= 0 & i < n));
    __requires(__is_pow2(n));
    __ensures(__return_val_int() >= 0);
    return __mod_pow2(i + 1, n);
}

// warpsmith: grid=1 block=64 arg a=int[64] arg b=int[64] arg n=64
// warpsmith: grid=1 block=64 arg a=int[64] arg b=int[64] arg n=60
__global__ void ring(int *a, int *b, int n)
{
    __requires(n == blockDim.x);
    __requires_fresh_array(a);
    int t = threadIdx.x;
    __assert(__all(t < blockDim.x));
    __assert(__implies(t == 4, __other_int(t) != 4));
    __assert(__uniform_int(n) & __distinct_int(t));
    int i = t;
    while (__invariant(i >= 0 & i <= n), __invariant(__no_read(a)), __global_invariant(__same_group), i > n)
        i--;
    for (int j = 0; __candidate_invariant(j <= 3), j < 4; j++) {
        __candidate_assert(j < 3);
        b[t] = next(i, n) + j;
    }
    __assert(b[t] == (t + 1) % n + 3);
    a[next(t, n)] = t;
}
