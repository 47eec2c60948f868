// Numbers of 32 bits that name the shared memory of another block of a cluster.
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) swapRanks(unsigned *out) {
    __shared__ unsigned mine;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0) mine = 100 + c.block_rank();
    c.sync();
    uint32_t here = static_cast<uint32_t>(__cvta_generic_to_shared(&mine)), there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(c.block_rank() ^ 1u));
    unsigned v;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there) : "memory");
    if (threadIdx.x == 0) out[blockIdx.x] = v;
    c.sync();
}
int main() {
    unsigned *p; cudaMallocManaged(&p, 8);
    swapRanks<<<2, 32>>>(p);
    cudaDeviceSynchronize();
    return p[0] == 101 && p[1] == 100 ? 0 : 1;
}
