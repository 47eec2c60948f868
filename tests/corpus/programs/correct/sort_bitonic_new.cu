// Bitonic sort: nested host loops around one kernel, arrays from new and delete.
#include <algorithm>
#include <cstdlib>
#include <iostream>
using namespace std;

__global__ void bitonicStep(int *values, int j, int k)
{
    unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
    unsigned int ixj = i ^ j;
    if (ixj > i) {
        int a = values[i], b = values[ixj];
        bool up = (i & k) == 0;
        if (up ? a > b : a < b) {
            values[i] = b;
            values[ixj] = a;
        }
    }
}

void bitonicSort(int *values, int n, int threads)
{
    int *dev;
    cudaMalloc((void **)&dev, n * sizeof(int));
    cudaMemcpy(dev, values, n * sizeof(int), cudaMemcpyHostToDevice);
    for (int k = 2; k <= n; k <<= 1) {
        for (int j = k >> 1; j > 0; j = j >> 1) bitonicStep<<<n / threads, threads>>>(dev, j, k);
    }
    cudaMemcpy(values, dev, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(dev);
}

int main()
{
    const int threads = 128;
    const int n = 8 * threads;
    int *values = new int[n];
    for (int i = 0; i < n; i++) values[i] = rand() % 1000;
    bitonicSort(values, n, threads);
    cout << (is_sorted(values, values + n) ? "sorted" : "not sorted") << endl;
    delete[] values;
}
