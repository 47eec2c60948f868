// `alignas` of a type: by a name that stands for it, by the words of a built-in type, and of a variable.
template <typename T, int n> struct Wide {};
template <> struct Wide<float, 4> {
    typedef float4 Type;
};
template <> struct Wide<short, 2> {
    typedef unsigned Type;
};

template <typename T, int n> struct Packet {
    typedef typename Wide<T, n>::Type Whole;
    struct alignas(Whole) {
        T data[n];
    } value;
    __device__ Whole *whole() { return reinterpret_cast<Whole *>(value.data); }
};

struct alignas(unsigned long long) Word {
    int low;
};

// warpsmith: grid=1 block=32 arg x=float[128]
__global__ void aligned(float *x)
{
    __shared__ alignas(double2) float rows[128];
    Packet<float, 4> p;
    for (int i = 0; i < 4; i++) p.value.data[i] = threadIdx.x + i;
    reinterpret_cast<float4 *>(rows)[threadIdx.x] = *p.whole();
    __syncthreads();
    __assert(alignof(Packet<float, 4>) == 16 && alignof(Packet<short, 2>) == 4 && sizeof(Word) == 8);
    for (int i = 0; i < 4; i++) x[4 * threadIdx.x + i] = rows[4 * threadIdx.x + i];
}
