// Textures and surfaces that the launch gives: objects, of reals and of bytes that are read as reals, and surfaces.
#include <cassert>

// warpsmith: grid=1 block=32 arg t=float[8][32]=iota arg line=uchar4[32]=iota arg out=float[32]
__global__ void read_texels(cudaTextureObject_t t, const cudaTextureObject_t line, float *out)
{
    int i = threadIdx.x;
    assert(tex2D<float>(t, i + 0.5f, 2.5f) == 64 + i && tex2D<float>(t, -3.0f, 0.0f) == 0);
    uchar4 v = tex1Dfetch<uchar4>(line, i);
    float4 f = tex1Dfetch<float4>(line, i);
    assert(v.y == 4 * i + 1 && f.y == (4 * i + 1) / 255.0f);
    out[i] = f.x;
}

// warpsmith: run write_texels, look_at_texels
// warpsmith: grid=1 block=8,4 arg s=int[4][8]
__global__ void write_texels(cudaSurfaceObject_t s)
{
    surf2Dwrite((int)(10 * threadIdx.y + threadIdx.x), s, threadIdx.x * 4, threadIdx.y);
}

// warpsmith: grid=1 block=4,8 arg s=int[4][8] arg bias=1
__global__ void look_at_texels(cudaTextureObject_t s, int bias)
{
    assert(tex2D<int>(s, threadIdx.y, threadIdx.x) + bias == 10 * threadIdx.x + threadIdx.y + 1);
}

// warpsmith: grid=1 block=32 arg out=float[32]
__global__ void unbound(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex3D<float>(t, 1, 2, threadIdx.x);
}
