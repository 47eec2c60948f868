// A lock in shared memory won, used and released inside one loop body; break leaves it: block-level fences only.

// warpsmith: grid=2 block=24 arg out=uint[2]
// warpsmith: grid=1 block=40 arg out=uint[1]
__global__ void shared_lock(unsigned int *out)
{
    __shared__ unsigned int lock;
    __shared__ unsigned int value;
    if (threadIdx.x == 0) {
        lock = 0;
        value = 1;
    }
    __syncthreads();

    for (;;) {
        if (atomicCAS(&lock, 0u, 1u) != 0u) continue;
        __threadfence_block();
        value = value * 3u + 1u;  // not a commutative update that an atomic could do
        __threadfence_block();
        atomicExch(&lock, 0u);
        break;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = value;
}
