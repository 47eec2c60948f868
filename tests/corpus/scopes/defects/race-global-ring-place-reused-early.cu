// Defect: the producer reuses a place one turn too early.
// expect: race-global line=12 array=ring
// expect: status=1
#include <cuda/atomic>
// warpsmith: grid=2 block=1 arg ring=int[4]=zeros arg head=uint[1]=zeros arg tail=uint[1]=zeros arg out=int[12]=zeros
__global__ void ring_of_four(int *ring, unsigned *head, unsigned *tail, int *out)
{
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> taken(*head), put(*tail);
    if (blockIdx.x == 0) {
        for (unsigned i = 0; i < 12; i++) {
            while (i - taken.load(cuda::memory_order_acquire) == 5) {}
            ring[i % 4] = i * i;
            put.store(i + 1, cuda::memory_order_release);
        }
    } else {
        for (unsigned i = 0; i < 12; i++) {
            while (put.load(cuda::memory_order_acquire) == i) {}
            out[i] = ring[i % 4];
            taken.store(i + 1, cuda::memory_order_release);
        }
    }
}
