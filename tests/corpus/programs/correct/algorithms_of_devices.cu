// Algorithms of thrust and CUB between kernels: what they compute is there for the kernels.
#include <cassert>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
struct square {
    __device__ int operator()(int x) const { return x * x; }
};
__global__ void place(const int *offsets, const int *sizes, int *out, int n)
{
    int i = threadIdx.x;
    if (i < n)
        for (int k = 0; k < sizes[i]; k++) out[offsets[i] + k] = i;
}
__global__ void expect(const int *sorted, const int *squares, int n, int sum)
{
    int i = threadIdx.x;
    assert(sum == n * (n - 1) / 2);
    if (i + 1 < n) assert(sorted[i] >= sorted[i + 1]);
    if (i < n) assert(squares[i] == i * i);
}
int main()
{
    const int n = 64;
    thrust::device_vector<int> sizes(n), offsets(n);
    thrust::sequence(sizes.begin(), sizes.end());
    thrust::exclusive_scan(thrust::device, sizes.begin(), sizes.end(), offsets.begin());
    int all = thrust::reduce(sizes.begin(), sizes.end(), 0, thrust::plus<int>());
    int *out;
    cudaMalloc(&out, all * sizeof(int));
    place<<<1, n>>>(
        thrust::raw_pointer_cast(offsets.data()), thrust::raw_pointer_cast(&sizes[0]), out, n
    );
    int *sum, *sorted;
    cudaMalloc(&sum, sizeof(int));
    cudaMalloc(&sorted, n * sizeof(int));
    void *storage = NULL;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(storage, bytes, sizes.data().get(), sum, n);
    cudaMalloc(&storage, bytes);
    cub::DeviceReduce::Sum(storage, bytes, sizes.data().get(), sum, n);
    cub::DeviceRadixSort::SortKeysDescending(storage, bytes, sizes.data().get(), sorted, n);
    thrust::device_vector<int> squares(n);
    thrust::transform(sizes.begin(), sizes.end(), squares.begin(), square());
    int h;
    cudaMemcpy(&h, sum, sizeof(int), cudaMemcpyDeviceToHost);
    expect<<<1, n>>>(sorted, thrust::raw_pointer_cast(squares.data()), n, h);
    cudaDeviceSynchronize();
}
