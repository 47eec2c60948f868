// Dynamic work distribution: a block takes tickets from a global counter and broadcasts them through shared memory.

// warpsmith: grid=3 block=16 arg next=int[1] arg lengths=int[20]=iota arg result=int[20] arg items=20
// warpsmith: grid=2 block=33 arg next=int[1] arg lengths=int[7]=iota arg result=int[7] arg items=7
__global__ void process_queue(int *next, const int *lengths, int *result, int items)
{
    __shared__ int item;
    __shared__ int sum;
    while (true) {
        if (threadIdx.x == 0) {
            item = atomicAdd(next, 1);
            sum = 0;
        }
        __syncthreads();
        const int mine = item;
        if (mine >= items) break;  // uniform: all threads read the same ticket

        int part = 0;
        for (int k = threadIdx.x; k < lengths[mine] * 4; k += blockDim.x) part += k;
        atomicAdd(&sum, part);
        __syncthreads();
        if (threadIdx.x == 0) result[mine] = sum;
    }
}
