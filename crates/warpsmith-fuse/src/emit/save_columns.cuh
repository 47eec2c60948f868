// Copies a block's elements from shared memory to a structure of arrays. Only the first `here` exist.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void save_columns(float *global, const float *shared, size_t pitch, int here, int thread)
{
    #pragma unroll 4
    for (int i = thread; i < SIZE * ELEMENTS; i += THREADS) {
        const int k = i / ELEMENTS, e = i % ELEMENTS;
        if (e < here) __stcs(global + k * pitch + e, shared[e * SIZE + k]);
    }
}
