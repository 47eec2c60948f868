// expect: race-global line=9 array=data
// expect: status=1
// Defect: the blur writes the surface that its neighbours still read
#include <cstdio>
__global__ void blur(cudaSurfaceObject_t image, int w)
{
    int x = threadIdx.x;
    float a = surf2Dread<float>(image, (x > 0 ? x - 1 : x) * 4, 0);
    surf2Dwrite(a, image, x * 4, 0);
}
int main()
{
    const int w = 64;
    float host[w];
    for (int i = 0; i < w; i++) host[i] = i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &format, w, 1, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(array, 0, 0, host, w * 4, w * 4, 1, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t image;
    cudaCreateSurfaceObject(&image, &resource);
    blur<<<1, w>>>(image, w);
    cudaDeviceSynchronize();
}
