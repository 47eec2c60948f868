// Brings the floats of a thread's own element to its registers; they stand `pitch` floats apart. Zeros for one that does
// not exist.
template <int SIZE>
static __device__ __forceinline__ void load_own(float *own, const float *global, size_t pitch, bool exists)
{
    #pragma unroll
    for (int k = 0; k < SIZE; k++) own[k] = exists ? __ldcs(global + k * pitch) : 0.0f;
}
