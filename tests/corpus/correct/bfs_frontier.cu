// One BFS level on a grid graph: neighbours claimed by atomicCAS on their distance, the next frontier appended by an atomic tail.
#define UNSEEN 0  // distances are stored plus one, so that zeroed memory means unseen

__device__ void visit(int v, int level, int *dist, int *next, int *tail)
{
    if (atomicCAS(&dist[v], UNSEEN, level + 1) == UNSEEN) {
        int slot = atomicAdd(tail, 1);
        next[slot] = v;
    }
}

// warpsmith: grid=1 block=64 arg frontier=int[40]=iota arg count=40 arg dist=int[100] arg next=int[100] arg tail=int[1] arg w=10 arg h=10 arg level=1
// warpsmith: grid=3 block=32 arg frontier=int[77]=iota arg count=77 arg dist=int[91] arg next=int[91] arg tail=int[1] arg w=13 arg h=7 arg level=4
// warpsmith: grid=1 block=35 arg frontier=int[35]=iota arg count=35 arg dist=int[35] arg next=int[35] arg tail=int[1] arg w=7 arg h=5 arg level=2
__global__ void bfs_level(const int *frontier, int count, int *dist, int *next, int *tail, int w, int h, int level)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int v = frontier[i], x = v % w, y = v / w;
    if (x > 0) visit(v - 1, level, dist, next, tail);
    if (x < w - 1) visit(v + 1, level, dist, next, tail);
    if (y > 0) visit(v - w, level, dist, next, tail);
    if (y < h - 1) visit(v + w, level, dist, next, tail);
}
