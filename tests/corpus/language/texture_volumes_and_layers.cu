// A volume filled by cudaMemcpy3D, layers, and border coordinates.
#include <cstdio>
__global__ void sample(cudaTextureObject_t volume, cudaTextureObject_t layers, float *out)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float v = tex3D<float>(volume, x + 0.5f, y + 0.5f, z + 0.5f);
    __assert(v == (z * 4 + y) * 8 + x);
    __assert(tex3D<float>(volume, x - 8.0f, y + 0.5f, z + 0.5f) == 0.0f);
    float layered;
    layered = tex2DLayered<float>(layers, x + 0.5f, y + 0.5f, z);
    __assert(layered == v);
    out[(z * 4 + y) * 8 + x] = v;
}

int main()
{
    float host[2 * 4 * 8], *out;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&out, sizeof(host));
    cudaExtent extent = make_cudaExtent(8, 4, 2);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray *volume, *layers;
    cudaMalloc3DArray(&volume, &format, extent);
    cudaMalloc3DArray(&layers, &format, extent, cudaArrayLayered);
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(host, 8 * sizeof(float), 8, 4);
    copy.dstArray = volume;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    copy.dstArray = layers;
    cudaMemcpy3D(&copy);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = volume;
    cudaTextureDesc how = {};
    for (int i = 0; i < 3; i++) how.addressMode[i] = cudaAddressModeBorder;
    cudaTextureObject_t a, b;
    cudaCreateTextureObject(&a, &resource, &how, NULL);
    resource.res.array.array = layers;
    cudaCreateTextureObject(&b, &resource, &how, NULL);
    sample<<<1, dim3(8, 4, 2)>>>(a, b, out);
    cudaDeviceSynchronize();
}
