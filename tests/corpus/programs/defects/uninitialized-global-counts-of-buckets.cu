// Counts per bucket are added into memory of malloc that nobody set to zero.
// expect: uninitialized-global line=19 array=d_counts
// expect: status=1
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

template <typename T> __global__ void histogram(const T *values, unsigned *counts, int n, T width, int buckets)
{
    extern __shared__ unsigned local[];
    for (int b = threadIdx.x; b < buckets; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = (int)(values[i] / width);
        if (b >= 0 && b < buckets) atomicAdd(&local[b], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < buckets; b += blockDim.x) counts[b] += local[b];
}

int main()
{
    const int n = 3000, buckets = 20;
    std::mt19937 random(7);
    std::uniform_real_distribution<float> place(0.0f, 1.0f);
    std::vector<float> values(n);
    for (auto &v : values) v = place(random);
    float *d_values;
    unsigned *d_counts;
    cudaMalloc(&d_values, values.size() * sizeof(float));
    cudaMalloc(&d_counts, buckets * sizeof(unsigned));
    cudaMemcpy(d_values, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
    histogram<float><<<1, 256, buckets * sizeof(unsigned)>>>(d_values, d_counts, n, 1.0f / buckets, buckets);
    std::vector<unsigned> counts(buckets);
    cudaMemcpy(counts.data(), d_counts, buckets * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (int b = 0; b < buckets; b++) printf("%u ", counts[b]);
    cudaFree(d_values);
    cudaFree(d_counts);
    return 0;
}
