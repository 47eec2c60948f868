// Annotations in the style of GPUVerify: requirements, invariants of loops, promises about accesses.
// warpsmith: grid=2 block=32 arg x=int[64] arg y=int[64] arg n=64
__global__ void annotated(int *x, int *y, int n)
{
    __requires(n == blockDim.x * gridDim.x);
    __requires_fresh_array(x);
    __requires(__no_read(y));
    __reads_from(x);
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int i = 0;
         __invariant(i >= 0 && i <= 4), __invariant(__implies(i == 0, sum == 0)),
             __global_invariant(__write_implies(y, __write_offset_bytes(y) / sizeof(int) == t)), i < 4;
         i++) {
        __assert(__enabled());
        sum += x[t];
    }
    __assert(__ite(sum == 0, x[t] == 0, x[t] != 0) || sum != 4 * x[t]);
    y[t] = sum;
}
