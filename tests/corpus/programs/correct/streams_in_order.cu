// What orders two streams: an event that one records and the other waits for, the default stream between them, a host that
// waits, and slices that have nothing in common. Sums by atomics need no order.
#include <cassert>
#include <cuda_runtime.h>

__global__ void scale(int n, int by, int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * by + 1;
}

__global__ void add_all(int n, const int *x, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}

int main()
{
    const int n = 600;
    int *host, *x, *sum;
    cudaStream_t one, two, apart;
    cudaEvent_t scaled, taken;
    cudaMallocHost(&host, n * sizeof(int));
    for (int i = 0; i < n; i++)
        host[i] = i % 7;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
    cudaEventCreate(&scaled);
    cudaEventCreateWithFlags(&taken, cudaEventDisableTiming);
    dim3 block(128), all((n + 127) / 128), half((n / 2 + 127) / 128);

    // The default stream comes before both, but not before the one that is apart.
    cudaMemset(sum, 0, sizeof(int));
    cudaMemcpyAsync(x, host, n * sizeof(int), cudaMemcpyHostToDevice, one);
    cudaEventRecord(scaled, one);
    cudaStreamWaitEvent(two, scaled, 0);
    scale<<<half, block, 0, one>>>(n / 2, 2, x);
    scale<<<half, block, 0, two>>>(n / 2, 3, x + n / 2);
    // This waits for both, and the next two wait for it.
    scale<<<all, block>>>(n, 2, x);
    add_all<<<half, block, 0, one>>>(n / 2, x, sum);
    add_all<<<half, block, 0, two>>>(n / 2, x + n / 2, sum);
    cudaEventRecord(taken, two);
    cudaStreamSynchronize(one);
    cudaEventSynchronize(taken);
    scale<<<all, block, 0, apart>>>(n, 2, x);
    cudaMemcpyAsync(host, x, n * sizeof(int), cudaMemcpyDeviceToHost, apart);
    cudaStreamSynchronize(apart);
    assert(host[1] == 15);

    cudaEventDestroy(scaled);
    cudaEventDestroy(taken);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaStreamDestroy(apart);
    cudaFree(x);
    cudaFree(sum);
    cudaFreeHost(host);
    return 0;
}
