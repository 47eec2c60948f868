// Defect: nodes are pushed by a relaxed compare-and-swap.
// expect: race-global line=18 array=value
// expect: race-global line=17 array=next
// expect: status=1
#include <cuda/atomic>
// warpsmith: grid=4 block=1 arg value=int[3]=zeros arg next=int[3]=zeros arg head=int[1]=zeros arg sum=int[1]=zeros
__global__ void push_and_take(int *value, int *next, int *head, int *sum)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> top(*head);
    if (blockIdx.x < 3) {
        int me = blockIdx.x + 1, seen = top.load(cuda::memory_order_relaxed);
        value[me - 1] = 10 * me;
        do next[me - 1] = seen;
        while (!top.compare_exchange_weak(seen, me, cuda::memory_order_relaxed));
    } else {
        for (int got = 0; got < 3;) {
            for (int node = top.exchange(0, cuda::memory_order_acquire); node != 0; node = next[node - 1]) {
                *sum += value[node - 1];
                got++;
            }
        }
    }
}
