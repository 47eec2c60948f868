// Floyd-Warshall, one pivot-block phase in shared memory: in-place relaxation where a barrier a step separates reads from writes.
#define B 8
#define MIN(a, b) ((a) < (b) ? (a) : (b))

// warpsmith: grid=1 block=8,8 arg dist=int[24][24]=iota arg n=24 arg pivot=0
// warpsmith: grid=1 block=8,8 arg dist=int[21][21]=iota arg n=21 arg pivot=2
__global__ void fw_phase1(int *dist, int n, int pivot)
{
    __shared__ int d[B][B];
    const int x = threadIdx.x, y = threadIdx.y;
    const int gx = pivot * B + x, gy = pivot * B + y;
    const bool valid = gx < n && gy < n;
    d[y][x] = valid ? (dist[gy * n + gx] * 7919) % 100 + 1 : 100000;
    __syncthreads();

    for (int k = 0; k < B; k++) {
        const int through = d[y][k] + d[k][x];
        __syncthreads();
        d[y][x] = MIN(d[y][x], through);
        __syncthreads();
    }
    if (valid) dist[gy * n + gx] = d[y][x];
}
