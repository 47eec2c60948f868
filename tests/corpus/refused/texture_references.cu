// Texture references, which CUDA 12 removed
texture<float, 1, cudaReadModeElementType> t;
// warpsmith: grid=1 block=32 arg x=float[32]
__global__ void f(float *x) { x[threadIdx.x] = tex1Dfetch(t, threadIdx.x); }
