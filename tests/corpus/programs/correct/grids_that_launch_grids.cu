// Kernels that launch kernels: a quicksort whose halves are grids of their own, levels of a tree, a grid in the tail stream.
// nvcc: -rdc=true
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call) \
    do { \
        cudaError_t e = (call); \
        if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } \
    } while (0)

__device__ void selection_sort(unsigned *a, int left, int right)
{
    for (int i = left; i <= right; i++) {
        int least = i;
        for (int j = i + 1; j <= right; j++)
            if (a[j] < a[least]) least = j;
        unsigned held = a[i];
        a[i] = a[least];
        a[least] = held;
    }
}

// What kernels may ask the run-time library.
__device__ void no_error_so_far()
{
    int device = 0;
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess || cudaGetDevice(&device) != cudaSuccess)
        printf("device %d, %s: %s\n", device, cudaGetErrorName(e), cudaGetErrorString(e));
}

__global__ void quicksort(unsigned *a, int left, int right, int depth)
{
    if (depth >= 12 || right - left <= 8) {
        selection_sort(a, left, right);
        return;
    }
    unsigned pivot = a[(left + right) / 2];
    int i = left, j = right;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            unsigned held = a[i];
            a[i++] = a[j];
            a[j--] = held;
        }
    }
    if (left < j) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(a, left, j, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (i < right) quicksort<<<1, 1>>>(a, i, right, depth + 1);
    no_error_so_far();
}

struct Range {
    const float *from;
    int first, count;
};

__global__ void sum_of(Range r, float *out, int level)
{
    __shared__ float s[32];
    s[threadIdx.x] = threadIdx.x < r.count ? r.from[r.first + threadIdx.x] : 0.0f;
    __syncthreads();
    for (int k = 16; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x + r.first / 32] = s[0] + level;
}

__global__ void finish(const float *parts, int n, float *total)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += parts[i];
    *total = sum;
}

__global__ void by_parts(const float *x, int n, float *parts, float *total)
{
    int part = threadIdx.x;
    int count = (n + 31) / 32;
    if (part < count) {
        Range r = {x, 32 * part, min(32, n - 32 * part)};
        sum_of<<<1, 32>>>(r, parts, 0);
    }
    if (part == 0) finish<<<1, 1, 0, cudaStreamTailLaunch>>>(parts, count, total);
}

int main()
{
    const int n = 200;
    std::vector<unsigned> h(n);
    for (auto &v : h) v = rand() % 1000;
    unsigned *d;
    CHECK(cudaMalloc(&d, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(d, h.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(d, 0, n - 1, 0);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h.data(), d, n * sizeof(unsigned), cudaMemcpyDeviceToHost));

    std::vector<float> x(n, 0.5f);
    float *dx, *parts, *total, sum;
    CHECK(cudaMalloc(&dx, n * sizeof(float)));
    CHECK(cudaMalloc(&parts, 7 * sizeof(float)));
    CHECK(cudaMalloc(&total, sizeof(float)));
    CHECK(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    by_parts<<<1, 32>>>(dx, n, parts, total);
    CHECK(cudaMemcpy(&sum, total, sizeof(float), cudaMemcpyDeviceToHost));
    printf("%u %f\n", h[0], sum);
    CHECK(cudaFree(d));
    CHECK(cudaFree(dx));
    CHECK(cudaFree(parts));
    CHECK(cudaFree(total));
    return 0;
}
