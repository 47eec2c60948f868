// Functor template parameters and a grid-stride loop: stateless operations chosen by type, a constexpr factor, saxpy at the end.
struct Square { __device__ float operator()(float x) const { return x * x; } };
struct Relu { __device__ float operator()(float x) const { return x > 0.f ? x : 0.f; } };
template <int P>
struct Power {
    __device__ float operator()(float x) const
    {
        float r = 1.f;
#pragma unroll
        for (int i = 0; i < P; ++i) r *= x;
        return r;
    }
};

// warpsmith: kernel='transform<Square>' grid=2 block=32 arg in=float[100]=random arg out=float[100] arg n=100
// warpsmith: kernel='transform<Relu>' grid=1 block=64 arg in=float[64]=random arg out=float[64] arg n=64
// warpsmith: kernel='transform<Power<3>>' grid=3 block=32 arg in=float[77]=random arg out=float[77] arg n=77
template <class F>
__global__ void transform(const float *in, float *out, int n)
{
    F f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = f(in[i]);
}

// warpsmith: grid=2 block=48 arg n=250 arg a=2 arg x=float[250]=random arg y=float[250]=random
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}
