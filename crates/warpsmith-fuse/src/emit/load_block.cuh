// Copies FLOATS floats of a block's elements to shared memory, 16 bytes at a time where both sides allow. Of the last
// block only the first `there` exist: the others become zeros.
template <int FLOATS, int THREADS, bool WIDE>
static __device__ __forceinline__ void load_block(float *shared, const float *global, int there, int thread)
{
    if (WIDE && there >= FLOATS && reinterpret_cast<size_t>(global) % 16 == 0) {
        #pragma unroll 4
        for (int i = 4 * thread; i < FLOATS; i += 4 * THREADS)
            __pipeline_memcpy_async(shared + i, global + i, 16);
    } else {
        for (int i = thread; i < FLOATS; i += THREADS) {
            if (i < there)
                __pipeline_memcpy_async(shared + i, global + i, 4);
            else
                shared[i] = 0.0f;
        }
    }
}
