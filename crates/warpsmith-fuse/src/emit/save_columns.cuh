// Copies a block's elements from shared memory to a structure of arrays. Only the first `here` exist.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void save_columns(float *global, const float *shared, size_t pitch, int here, int thread)
{
    constexpr int ROWS = THREADS / ELEMENTS;
    const int e = thread % ELEMENTS, first = thread / ELEMENTS;
    if (e >= here) return;
    float *to = global + first * pitch + e;
    #pragma unroll
    for (int k = first; k < SIZE; k += ROWS) {
        __stcs(to, shared[e * SIZE + k]);
        to += ROWS * pitch;
    }
}
