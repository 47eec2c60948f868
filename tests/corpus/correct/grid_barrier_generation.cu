// A reusable grid barrier with a generation counter, all of it by atomics: the last block resets the count and opens the gate.
struct GridBarrier {
    unsigned count;
    unsigned generation;
};

__device__ GridBarrier barrier;

__device__ void wait_for_grid()
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned my_generation = atomicAdd(&barrier.generation, 0u);
        __threadfence();
        if (atomicAdd(&barrier.count, 1u) == gridDim.x - 1) {
            atomicExch(&barrier.count, 0u);
            __threadfence();
            atomicAdd(&barrier.generation, 1u);
        } else {
            while (atomicAdd(&barrier.generation, 0u) == my_generation)
                ;
        }
        __threadfence();
    }
    __syncthreads();
}

// warpsmith: grid=4 block=32 arg x=int[128]=iota arg y=int[128] arg n=128
// warpsmith: grid=2 block=64 arg x=int[111]=iota arg y=int[111] arg n=111
__global__ void rotate_twice(int *x, int *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[(i + 40) % n] = x[i];
    wait_for_grid();
    if (i < n) x[(i + 40) % n] = y[i];
    wait_for_grid();
    if (i < n) y[n - 1 - i] = x[i];
}
