// Variable templates: constants by type and by number, and a variable of the device.
template <typename T> constexpr T pi = T(3.1415926535897932385);
template <int N> constexpr int doubled = 2 * N;
template <typename T> __device__ T offset_of = T(4);

// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void constants(float *x)
{
    x[threadIdx.x] = pi<float> * doubled<3> + offset_of<float>;
    __assert(x[threadIdx.x] == 3.1415927f * 6 + 4.0f && pi<int> == 3 && offset_of<int> == 4);
}
