// A texture object over an array: filtering by neighbours, clamped and wrapped coordinates.
#include <cstdio>
#include <cstring>
__global__ void sample(cudaTextureObject_t linear, cudaTextureObject_t wrapped, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float centre = tex2D<float>(linear, x + 0.5f, y + 0.5f);
    __assert(centre == (float)(y * w + x));
    float between = tex2D<float>(linear, x + 1.0f, y + 0.5f);
    __assert(between == (x + 1 < w ? centre + 0.5f : centre));
    __assert(tex2D<float>(linear, -3.0f, y + 0.5f) == (float)(y * w));
    float moved = tex2D<float>(wrapped, (x + w + 0.5f) / w, (y + 0.5f) / h - 1.0f);
    __assert(moved == centre);
    float mirrored = tex2DLod<float>(wrapped, (x + 0.5f) / w, (y + 0.5f) / h, 0.0f);
    out[y * w + x] = centre + mirrored;
}

int main()
{
    int w = 32, h = 16;
    float *host = (float *)malloc(w * h * sizeof(float)), *out;
    for (int i = 0; i < w * h; i++) host[i] = i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &format, w, h);
    cudaMemcpy2DToArray(array, 0, 0, host, w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice);
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof(resource));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how;
    memset(&how, 0, sizeof(how));
    how.addressMode[0] = cudaAddressModeClamp;
    how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = 0;
    cudaTextureObject_t linear = 0, wrapped = 0;
    cudaCreateTextureObject(&linear, &resource, &how, NULL);
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.filterMode = cudaFilterModePoint;
    how.normalizedCoords = 1;
    cudaCreateTextureObject(&wrapped, &resource, &how, NULL);
    cudaMalloc(&out, w * h * sizeof(float));
    sample<<<dim3(2, 2), dim3(16, 8)>>>(linear, wrapped, out, w, h);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(linear);
    cudaFreeArray(array);
    cudaFree(out);
}
