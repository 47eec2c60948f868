// Concurrent union-find on an implicit ring of edges: parents are read and written by atomics only, retry loops.

__device__ int find_root(int *parent, int x)
{
    int p = atomicAdd(&parent[x], 0);
    while (p != x) {
        x = p;
        p = atomicAdd(&parent[x], 0);
    }
    return x;
}

// warpsmith: grid=2 block=32 arg parent=int[45]=iota arg n=45
__global__ void unite_edges(int *parent, int n)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < n) {
        int a = e, b = (e * 5 + 3) % n;
        for (;;) {
            a = find_root(parent, a);
            b = find_root(parent, b);
            if (a == b) break;
            if (a < b) { int t = a; a = b; b = t; }
            if (atomicCAS(&parent[a], a, b) == a) break;  // hook the larger root under the smaller
        }
    }
}

// warpsmith: grid=2 block=32 arg parent=int[45]=iota arg root=int[45] arg n=45
__global__ void flatten(const int *parent, int *root, int n)
{
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        int x = v;
        while (parent[x] != x) x = parent[x];
        root[v] = x;
    }
}

// warpsmith: run unite_edges, flatten
