// Defect: __syncwarp orders only one warp, but the neighbour's slot may belong to another warp.
// expect: race-shared line=10 array=edge
// expect: status=1

// warpsmith: grid=1 block=96 arg in=int[96]=iota arg out=int[96]
__global__ void neighbour(const int *in, int *out)
{
    __shared__ int edge[96];
    const int t = threadIdx.x;
    edge[t] = in[t];
    __syncwarp();
    out[t] = edge[(t + 1) % 96];
}
