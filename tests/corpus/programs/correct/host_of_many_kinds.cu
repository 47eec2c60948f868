// Host code that asks the device, sorts with the C library, recurses, starts threads, cuts strings and points to rows.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>
#define N 24

__global__ void scale_rows(float (*to)[N], const float (*from)[N], int rows)
{
    for (int i = blockIdx.x; i < rows; i += gridDim.x)
        if (threadIdx.x < N) to[i][threadIdx.x] = 2.0f * from[i][threadIdx.x];
}

__global__ void ranks(const int *keys, int *rank, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) rank[i] = i > 0 && keys[i - 1] > keys[i] ? -1 : i;
}

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

static void count_up(int *keys, int n)
{
    int *d_keys, *d_rank;
    cudaMalloc(&d_keys, n * sizeof(int));
    cudaMalloc(&d_rank, n * sizeof(int));
    cudaMemcpy(d_keys, keys, n * sizeof(int), cudaMemcpyHostToDevice);
    ranks<<<(n + 63) / 64, 64>>>(d_keys, d_rank, n);
    cudaFree(d_keys);
    cudaFree(d_rank);
}

int main()
{
    int processors, resident;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, scale_rows, 32, 0);
    std::string name("rows-24");
    int rows = atoi(name.substr(name.find('-') + 1).c_str());
    float (*from)[N], (*to)[N], *all;
    cudaMalloc((void **)&from, rows * N * sizeof(float));
    cudaMalloc((void **)&to, rows * N * sizeof(float));
    cudaMalloc(&all, sizeof(float));
    cudaMemset(from, 0, rows * N * sizeof(float));
    scale_rows<<<processors * resident < rows ? processors * resident : rows, 32>>>(to, from, rows);
    const int n = factorial(5);
    int *keys = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) keys[i] = rand() % 1000;
    qsort(keys, n, sizeof(int), by_value);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; i++) threads.push_back(std::thread(count_up, keys, n / (i + 1)));
    for (auto &thread : threads) thread.join();
    cudaFree(from);
    cudaFree(to);
    cudaFree(all);
    free(keys);
    return 0;
}
