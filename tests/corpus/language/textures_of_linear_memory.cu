// Textures over linear and pitched memory, vectors as elements, elements read as numbers between 0 and 1.
#include <cstdio>
__global__ void fetch(cudaTextureObject_t pairs, cudaTextureObject_t bytes, float *out, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    float2 p = tex1Dfetch<float2>(pairs, i);
    __assert(p.x == i && p.y == -i);
    __assert(tex1Dfetch<float2>(pairs, n).x == 0.0f);
    uchar4 unused;
    float4 b = tex2D<float4>(bytes, i % 8 + 0.5f, i / 8 + 0.5f);
    __assert(b.x == i / 255.0f && b.w == 1.0f);
    unused.x = 0;
    out[i] = p.x + b.y + unused.x;
}

int main()
{
    const int n = 32;
    float2 pairs[n];
    uchar4 bytes[n];
    for (int i = 0; i < n; i++) {
        pairs[i] = make_float2(i, -i);
        bytes[i] = make_uchar4(i, 2 * i, 0, 255);
    }
    float2 *d;
    uchar4 *image;
    float *out;
    size_t pitch;
    cudaMalloc(&d, sizeof(pairs));
    cudaMalloc(&out, n * sizeof(float));
    cudaMallocPitch(&image, &pitch, 8 * sizeof(uchar4), 4);
    cudaMemcpy(d, pairs, sizeof(pairs), cudaMemcpyHostToDevice);
    cudaMemcpy2D(image, pitch, bytes, 8 * sizeof(uchar4), 8 * sizeof(uchar4), 4, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = d;
    resource.res.linear.desc = cudaCreateChannelDesc<float2>();
    resource.res.linear.sizeInBytes = sizeof(pairs);
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t first, second;
    cudaCreateTextureObject(&first, &resource, &how, nullptr);
    cudaResourceDesc rows = {};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = image;
    rows.res.pitch2D.desc = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
    rows.res.pitch2D.width = 8;
    rows.res.pitch2D.height = 4;
    rows.res.pitch2D.pitchInBytes = pitch;
    how.readMode = cudaReadModeNormalizedFloat;
    cudaCreateTextureObject(&second, &rows, &how, nullptr);
    fetch<<<1, 64>>>(first, second, out, n);
    cudaDeviceSynchronize();
}
