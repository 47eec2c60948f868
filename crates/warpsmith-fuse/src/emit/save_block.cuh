// Copies FLOATS floats of a block's elements from shared memory, 16 bytes at a time where both sides allow. Of the last
// block only the first `there` exist.
template <int FLOATS, int THREADS, bool WIDE>
static __device__ __forceinline__ void save_block(float *global, const float *shared, int there, int thread)
{
    if (WIDE && there >= FLOATS && reinterpret_cast<size_t>(global) % 16 == 0) {
        #pragma unroll 4
        for (int i = 4 * thread; i < FLOATS; i += 4 * THREADS)
            __stcs(reinterpret_cast<float4 *>(global + i), *reinterpret_cast<const float4 *>(shared + i));
    } else {
        for (int i = thread; i < FLOATS; i += THREADS)
            if (i < there) global[i] = shared[i];
    }
}
