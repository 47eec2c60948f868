// Inclusive prefix maximum with shuffles over a strip of tiles carried through shared memory by one block.
template <typename T> __device__ T larger(T a, T b) { return a > b ? a : b; }

// warpsmith: grid=1 block=64 arg in=int[256]=random arg out=int[256] arg n=256
// warpsmith: grid=1 block=64 arg in=int[201]=random(9) arg out=int[201] arg n=201
__global__ void prefix_max(const int *in, int *out, int n)
{
    __shared__ int warp_max[2];
    __shared__ int carry;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int lowest = -2147483647 - 1;
    if (threadIdx.x == 0) carry = lowest;

    for (int base = 0; base < n; base += 64) {
        const int i = base + threadIdx.x;
        int v = i < n ? in[i] : lowest;
        for (int d = 1; d < 32; d *= 2) {
            const int other = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v = larger(v, other);
        }
        if (lane == 31) warp_max[warp] = v;
        __syncthreads();
        if (warp == 1) v = larger(v, warp_max[0]);
        v = larger(v, carry);
        if (i < n) out[i] = v;
        __syncthreads();  // all have read the carry
        if (threadIdx.x == 63) carry = v;
    }
}
