// `goto`: forwards, backwards, out of nested loops, into the next part of a function, and to one end for all errors.
__device__ int length_of_orbit(unsigned n)
{
    int steps = 0;
again:
    if (n == 1) goto done;
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
    goto again;
done:
    return steps;
}

// warpsmith: grid=2 block=32 arg x=int[64] arg n=50
__global__ void jumps(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, row = -1, column = -1, sum = 0;
    if (i >= n) goto out;
    for (row = 0; row < 8; row++) {
        for (column = 0; column < 8; column++) {
            if (row * 8 + column == i) goto found;
            if (column > row + 6) goto next;
            sum += column;
        }
    next:;
    }
    __assert(false);
found:
    __assert(row == i / 8 && column == i % 8);
    __assert(length_of_orbit(6) == 8);
    __assert(length_of_orbit(i + 1) >= 0);
    switch (i % 3) {
    case 0: goto out;
    case 1: sum = 1; break;
    default: sum = 2;
    }
    x[i] = sum;
    __assert(sum == i % 3);
out:
    if (i < n && i % 3 == 0) x[i] = 0;
}
