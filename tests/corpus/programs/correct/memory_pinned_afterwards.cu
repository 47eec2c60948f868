// Memory of the host that is pinned after it was allocated: kernels use it by the pointer of the device, the host waits before it
// looks, and once it is unpinned only the host does.
#include <cassert>
#include <cstdlib>
#include <sys/mman.h>
#include <cuda_runtime.h>

__global__ void squares(int n, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

int main()
{
    const int n = 300;
    int *in = (int *)malloc(n * sizeof(int));
    void *pages = mmap(NULL, n * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (pages == MAP_FAILED) return 1;
    int *out = (int *)pages;
    for (int i = 0; i < n; i++) in[i] = i;
    cudaHostRegister(in, n * sizeof(int), cudaHostRegisterMapped);
    cudaHostRegister(out, n * sizeof(int), cudaHostRegisterDefault);
    int *mapped;
    cudaHostGetDevicePointer((void **)&mapped, in, 0);
    squares<<<3, 128>>>(n, mapped);
    cudaMemcpyAsync(out, in, n * sizeof(int), cudaMemcpyDefault);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) assert(in[i] == i * i && out[i] == i * i);
    cudaHostUnregister(in);
    cudaHostUnregister(out);
    free(in);
    munmap(pages, n * sizeof(int));
}
