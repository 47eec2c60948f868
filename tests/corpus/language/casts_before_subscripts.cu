// Casts by the name of a type before a value in parentheses that something follows: `(T)(a)[i]` casts the element.
struct Pair {
    float first, second;
};

template <typename T> __device__ int component(float4 v, int i)
{
    return (T)(&v.x)[i] + (T)(&v)->y;
}

// warpsmith: grid=1 block=32 arg x=int[32]
__global__ void casts(int *x)
{
    typedef unsigned char byte;
    int i = threadIdx.x;
    Pair pairs[2] = {{1.5f, 2.5f}, {3.5f, 300.5f}};
    float4 v = make_float4(1.25f, 2.25f, 3.25f, 4.25f);
    int sum = component<int>(v, 2) + component<byte>(v, 3);
    __assert(sum == 3 + 2 + 4 + 2);
    sum = (byte)(pairs)[1].second + (byte)(pairs[0]).first;
    __assert(sum == (byte)300 + 1);
    x[i] = sum + (byte)(257);
    __assert(x[i] == (byte)300 + 2);
}
