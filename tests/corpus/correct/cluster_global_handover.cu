// Blocks of a cluster exchange through global memory: the barrier of the cluster orders that, too. PTX and intrinsics.
// warpsmith: grid=4 block=32 arg x=int[128]=iota arg y=int[128]
__cluster_dims__(2, 1, 1) __global__ void cluster_global_handover(int *x, int *y)
{
    unsigned rank, blocks;
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    const int i = blockIdx.x * 32 + threadIdx.x, other = (blockIdx.x ^ 1) * 32 + threadIdx.x;
    x[i] += rank + blocks;
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    y[i] = x[other];
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    x[other] = y[i] + __clusterRelativeBlockRank();
}
