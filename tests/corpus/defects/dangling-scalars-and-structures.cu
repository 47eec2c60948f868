// expect: dangling line=25 array=v
// expect: dangling line=29 array=z
// expect: dangling line=33 array=t
// expect: dangling line=43 array=v
// expect: status=1
// Defect: pointers and references to variables, structures among them, are used when the scope of those has ended.
struct Three {
    float x[3];
};

__device__ int *address(int n)
{
    int z = n + 1;
    return &z;
}
__device__ float &doubled(float x)
{
    float t = x * 2;
    return t;
}

// warpsmith: grid=1 block=32 arg out=int[32] arg n=5
__global__ void block(int *out, int n) {
    int *p; { int v = n + threadIdx.x; p = &v; }
    out[threadIdx.x] = *p;
}
// warpsmith: grid=1 block=32 arg out=int[32] arg n=5
__global__ void pointer(int *out, int n) {
    out[threadIdx.x] = *address(n);
}
// warpsmith: grid=1 block=32 arg out=float[32] arg n=5
__global__ void reference(float *out, float n) {
    out[threadIdx.x] = doubled(n);
}
// warpsmith: grid=1 block=32 arg out=float[32]
__global__ void structure(float *out) {
    const float *p;
    {
        Three v;
        for (int i = 0; i < 3; i++) v.x[i] = threadIdx.x;
        p = v.x;
    }
    out[threadIdx.x] = p[threadIdx.x % 3];
}
