// Brings the floats of a thread's own element back from its registers.
template <int SIZE>
static __device__ __forceinline__ void save_own(float *global, const float *own, size_t pitch, bool exists)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++)
        if (exists) __stcs(global + k * pitch, own[k]);
}
