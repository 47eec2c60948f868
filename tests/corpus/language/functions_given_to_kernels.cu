// Kernels that get pointers to functions: each function of the file is tried, `__requires` leaves out those not meant.
typedef float (*Step)(const float *, unsigned);

__device__ float twice(const float *v, unsigned i) { return v[i] * 2.0f; }
__device__ float half_of(const float *v, unsigned i) { return v[i] * 0.5f; }
__device__ float beyond(const float *v, unsigned i) { return v[i + 1000]; }

// warpsmith: grid=1 block=64 arg v=float[64]=iota arg out=float[64] arg n=64
__global__ void one_of_two(const float *v, float *out, Step step, unsigned n)
{
    __requires(step == twice | step == half_of);
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (*step)(v, i);
    __assert(out[i] == i * 2.0f || out[i] == i * 0.5f);
}

// warpsmith: grid=1 block=64 arg v=float[64]=iota arg out=float[64] arg first=&half_of
__global__ void given(const float *v, float *out, Step first, Step second)
{
    __requires(second != beyond);
    Step list[] = {twice, half_of, beyond};
    unsigned i = threadIdx.x;
    out[i] = first(v, i) + (second == list[0] ? second(v, i) : 0.0f);
    __assert(out[i] == i * 0.5f || out[i] == i * 2.5f);
}
