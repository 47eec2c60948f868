// Copies a block's elements from a structure of arrays to shared memory: float k of element e stands `pitch` floats behind
// float k - 1. Only the first `here` elements exist: the others become zeros.
template <int SIZE, int ELEMENTS, int THREADS>
static __device__ __forceinline__ void load_columns(float *shared, const float *global, size_t pitch, int here, int thread)
{
    #pragma unroll 4
    for (int i = thread; i < SIZE * ELEMENTS; i += THREADS) {
        const int k = i / ELEMENTS, e = i % ELEMENTS;
        if (e < here)
            __pipeline_memcpy_async(shared + e * SIZE + k, global + k * pitch + e, 4);
        else
            shared[e * SIZE + k] = 0.0f;
    }
}
