// Barriers that vote: __syncthreads_count, _and, _or drive uniform control flow, with a loop that ends by agreement.

// warpsmith: grid=2 block=64 arg x=int[128]=iota arg steps=int[2]
// warpsmith: grid=1 block=45 arg x=int[45]=iota arg steps=int[1]
__global__ void until_all_ones(int *x, int *steps)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i] + 1, n = 0;
    while (__syncthreads_or(v != 1)) {  // Collatz until every thread has reached one
        if (v != 1) v = (v & 1) ? 3 * v + 1 : v / 2;
        ++n;
    }
    x[i] = n;
    const int even = __syncthreads_count(i % 2 == 0);
    const int same = __syncthreads_and(v == 1);
    if (threadIdx.x == 0) steps[blockIdx.x] = same ? n * 1000 + even : -1;
}
