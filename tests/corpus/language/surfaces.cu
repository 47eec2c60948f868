// Surfaces over arrays of pixels: reads and writes at positions in bytes, copies back to the host.
#include <cstdio>
#include <cstring>
__global__ void brighten(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x >= w || y >= h) return;
    uchar4 pixel;
    surf2Dread(&pixel, from, x * 4, y);
    uchar4 same = surf2Dread<uchar4>(from, x * (int)sizeof(uchar4), y, cudaBoundaryModeClamp);
    __assert(same.x == pixel.x && pixel.x == (unsigned char)(4 * (y * w + x)));
    pixel.x += 1;
    surf2Dwrite(pixel, to, x * 4, y);
}

int main()
{
    const int w = 16, h = 8;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
    cudaArray_t a, b;
    cudaMallocArray(&a, &format, w, h, cudaArraySurfaceLoadStore);
    cudaMallocArray(&b, &format, w, h, cudaArraySurfaceLoadStore);
    unsigned char bytes[w * h * 4];
    for (int i = 0; i < w * h * 4; i++) bytes[i] = i;
    cudaMemcpy2DToArray(a, 0, 0, bytes, w * 4, w * 4, h, cudaMemcpyHostToDevice);
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = a;
    cudaSurfaceObject_t from, to;
    cudaCreateSurfaceObject(&from, &resource);
    resource.res.array.array = b;
    cudaCreateSurfaceObject(&to, &resource);
    brighten<<<1, dim3(w, h)>>>(from, to, w, h);
    cudaMemcpy2DFromArray(bytes, w * 4, b, 0, 0, w * 4, h, cudaMemcpyDeviceToHost);
    if (bytes[8] != 9) brighten<<<1, dim3(64, 64)>>>(from, to, w, h);
    cudaDestroySurfaceObject(from);
    cudaFreeArray(a);
}
