// Histogram in managed memory that host and device both use.
#include <iostream>

#define BINS 64

__global__ void histogram(const unsigned char *data, unsigned int *bins, int n)
{
    __shared__ unsigned int local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&local[data[i] % BINS], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

int main(void)
{
    int N = 1 << 14;
    unsigned char *data;
    unsigned int *bins;
    cudaMallocManaged(&data, N * sizeof(unsigned char));
    cudaMallocManaged(&bins, BINS * sizeof(unsigned int));
    for (int i = 0; i < N; i++) data[i] = static_cast<unsigned char>(i * 31);
    for (int b = 0; b < BINS; b++) bins[b] = 0;

    int blockSize = 256;
    int numBlocks = 8;
    histogram<<<numBlocks, blockSize>>>(data, bins, N);
    cudaDeviceSynchronize();

    unsigned int total = 0;
    for (int b = 0; b < BINS; b++) total += bins[b];
    std::cout << "Total: " << total << std::endl;
    cudaFree(data);
    cudaFree(bins);
    return 0;
}
