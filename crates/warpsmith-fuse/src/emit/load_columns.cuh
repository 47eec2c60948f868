// Copies a block's elements from a structure of arrays to shared memory: float k of element e stands `pitch` floats behind
// float k - 1. A thread stays with one element and goes from float to float, so that neighbours read neighbours and an address
// is one addition. Only the first `here` elements exist: the others become zeros.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void load_columns(float *shared, const float *global, size_t pitch, int here, int thread)
{
    constexpr int ROWS = THREADS / ELEMENTS;
    const int e = thread % ELEMENTS, first = thread / ELEMENTS;
    const float *from = global + first * pitch + e;
    float *to = shared + e * SIZE;
    #pragma unroll
    for (int k = first; k < SIZE; k += ROWS) {
        if (e < here)
            __pipeline_memcpy_async(to + k, from, 4);
        else
            to[k] = 0.0f;
        from += ROWS * pitch;
    }
}
