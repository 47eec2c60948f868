// Static variables of a device function are one for all threads.
__device__ int ticket(int *seen)
{
    static int next;
    static const int step[] = {1, 1};
    int mine = atomicAdd(&next, step[threadIdx.x & 1]);
    seen[mine] = 1;
    return mine;
}

// warpsmith: grid=2 block=32 arg seen=int[64]=zeros arg x=int[64]
__global__ void tickets(int *seen, int *x)
{
    int t = ticket(seen);
    __assert(t >= 0 && t < 64);
    x[t] = blockIdx.x;
}
