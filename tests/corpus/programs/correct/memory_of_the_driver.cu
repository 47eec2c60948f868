// Memory that the driver maps at an address of its own, and threads of the host that wait for a condition.
#include <cuda.h>
#include <pthread.h>
#include <cstdio>
#include <cstdlib>

__global__ void triple(int *x, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] = 3 * (int)i;
}

struct Done {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
} done;

static bool map(CUdeviceptr *at, size_t *bytes)
{
    CUmemAllocationProp prop = {};
    CUdevice device;
    if (cuCtxGetDevice(&device) != CUDA_SUCCESS) return false;
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    size_t step = 0;
    cuMemGetAllocationGranularity(&step, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    *bytes = ((*bytes - 1) / step + 1) * step;
    CUmemGenericAllocationHandle handle;
    if (cuMemAddressReserve(at, *bytes, 0, 0, 0) != CUDA_SUCCESS) return false;
    if (cuMemCreate(&handle, *bytes, &prop, 0) != CUDA_SUCCESS) return false;
    if (cuMemMap(*at, *bytes, 0, handle, 0) != CUDA_SUCCESS) return false;
    cuMemRelease(handle);
    CUmemAccessDesc access;
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return cuMemSetAccess(*at, *bytes, &access, 1) == CUDA_SUCCESS;
}

static void *work(void *data)
{
    triple<<<4, 64>>>((int *)data, 250);
    pthread_mutex_lock(&done.lock);
    done.count++;
    pthread_mutex_unlock(&done.lock);
    pthread_cond_signal(&done.changed);
    return 0;
}

int main()
{
    size_t bytes = 250 * sizeof(int);
    CUdeviceptr at;
    if (!map(&at, &bytes)) return 1;
    pthread_mutex_init(&done.lock, 0);
    pthread_cond_init(&done.changed, 0);
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)at);
    pthread_mutex_lock(&done.lock);
    while (done.count < 1) pthread_cond_wait(&done.changed, &done.lock);
    pthread_mutex_unlock(&done.lock);
    int last;
    cudaMemcpy(&last, (int *)at + 249, sizeof(int), cudaMemcpyDeviceToHost);
    if (last != 3 * 249) triple<<<1, 4096>>>((int *)at, 250);
    cuMemUnmap(at, bytes);
    cuMemAddressFree(at, bytes);
    return 0;
}
