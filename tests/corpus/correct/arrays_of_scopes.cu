// Arrays of inner blocks, loops and functions whose addresses are given away while they live: to functions, to pointers that are
// set anew before they are read, and by references.

__device__ int largest(const int *x, int n)
{
    int best[1] = {x[0]};
    int *at = best;
    for (int i = 1; i < n; i++)
        if (x[i] > *at) *at = x[i];
    return *at;
}

__device__ void fill(int (&to)[4], int from)
{
    for (int i = 0; i < 4; i++) to[i] = from ^ (i * 5);
}

// warpsmith: grid=2 block=64 arg n=100 arg out=int[100]
__global__ void arrays_of_scopes(int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    const int *last = nullptr;
    for (int round = 0; round < 3; round++) {
        int values[4];
        fill(values, i + round);
        last = values + (round & 1);
        if (i % 5 == round) {
            int pair[2] = {*last, round};
            last = pair;
            sum += last[1] - last[0];
            continue;
        }
        sum += *last + largest(values, 4);
    }
    out[i] = sum;
}
