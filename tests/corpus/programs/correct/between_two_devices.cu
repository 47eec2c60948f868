// A program for two devices, which ends where there is one: copies and accesses of one device's memory from the other.
#include <stdio.h>
#include <stdlib.h>

__global__ void twice(const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] * 2.0f;
}

int main()
{
    const int n = 1024;
    const size_t bytes = n * sizeof(float);
    int devices = 0, reaches = 0;
    cudaGetDeviceCount(&devices);
    if (devices < 2) {
        printf("two devices are needed\n");
        exit(2);
    }
    cudaDeviceCanAccessPeer(&reaches, 0, 1);
    if (!reaches) return 2;
    cudaSetDevice(0);
    cudaDeviceEnablePeerAccess(1, 0);
    float *near, *far, *host = (float *)malloc(bytes);
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&near, bytes);
    cudaMemcpy(near, host, bytes, cudaMemcpyHostToDevice);
    cudaSetDevice(1);
    cudaMalloc(&far, bytes);
    twice<<<n / 256, 256>>>(near, far);
    cudaDeviceSynchronize();
    cudaMemcpy(host, far, bytes, cudaMemcpyDefault);
    for (int i = 0; i < n; i++)
        if (host[i] != 2.0f * i) return 1;
    cudaFree(near);
    cudaFree(far);
    free(host);
    return 0;
}
