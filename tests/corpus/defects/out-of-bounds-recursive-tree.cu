// Defect: the walk over a tree in an array asks whether the node itself is inside, and not whether its right child is.
// expect: out-of-bounds line=8 array=key
// expect: status=1

__device__ int sum(const int *key, int node, int n)
{
    if (node > n) return 0;
    int here = key[node];
    here += sum(key, 2 * node + 1, n);
    return here + sum(key, 2 * node + 2, n);
}

// warpsmith: grid=1 block=1 arg key=int[15]=iota arg total=int[1] arg n=15
__global__ void k(const int *key, int *total, int n)
{
    total[0] = sum(key, 0, n);
}
