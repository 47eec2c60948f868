// Defect: one of the functions that the kernel may be given reads the right neighbour of the last element.
// expect: out-of-bounds line=8 array=x
// expect: status=1

typedef float (*Pick)(const float *, int);
__device__ float own(const float *x, int i) { return x[i]; }
__device__ float left(const float *x, int i) { return i > 0 ? x[i - 1] : 0.0f; }
__device__ float right(const float *x, int i) { return x[i + 1]; }

// warpsmith: grid=1 block=32 arg x=float[32] arg y=float[32]
__global__ void pick(const float *x, float *y, Pick p)
{
    __requires(p == own || p == left || p == right);
    y[threadIdx.x] = p(x, threadIdx.x);
}
