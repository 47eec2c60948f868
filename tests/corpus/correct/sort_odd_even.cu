// Odd-even transposition sort of one block: the pair a thread owns shifts by one every phase, so each phase needs its barrier.
template <class T>
__device__ void swap_if_greater(T &a, T &b)
{
    if (b < a) { T t = a; a = b; b = t; }
}

// warpsmith: kernel='odd_even_sort<float>' grid=1 block=32 shared=256 arg data=float[64]=random arg n=64
// warpsmith: kernel='odd_even_sort<short>' grid=1 block=20 shared=74 arg data=short[37]=random arg n=37
// warpsmith: kernel='odd_even_sort<float>' grid=1 block=2 shared=12 arg data=float[3]=random(1) arg n=3
template <class T>
__global__ void odd_even_sort(T *data, int n)
{
    extern __shared__ unsigned char raw[];
    T *s = reinterpret_cast<T *>(raw);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = data[i];
    __syncthreads();

    for (int phase = 0; phase < n; ++phase) {
        const int left = 2 * threadIdx.x + (phase & 1);
        if (left + 1 < n) swap_if_greater(s[left], s[left + 1]);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = s[i];
}
