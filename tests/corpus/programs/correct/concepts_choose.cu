// Overloads that conditions on their types choose
// nvcc: -std=c++20
#include <concepts>
#include <cstdio>
#include <type_traits>

template <typename T>
concept Real = std::is_floating_point_v<T>;
template <typename T>
concept Small = sizeof(T) <= 4 && (Real<T> || std::integral<T>);

template <Real T> __host__ __device__ T half_of(T x) { return x / 2; }
template <typename T>
    requires std::integral<T>
__host__ __device__ T half_of(T x) {
    return x >> 1;
}
template <typename T> __host__ __device__ int parts(T) { return 1; }
template <Small T> __host__ __device__ int parts(T) { return 2; }
template <typename T> __host__ __device__ T twice(T x) requires Small<T> { return x + x; }

template <typename T> __global__ void halve(T *a, int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    a[i] = half_of(a[i] + (T)(2 * i));
    p[i] = parts(a[i]);
}

template <typename T> bool run(int n) {
    T *a, host[64];
    int *p, kinds[64];
    cudaMalloc(&a, n * sizeof(T));
    cudaMalloc(&p, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(T));
    halve<<<2, 32>>>(a, p, n);
    cudaMemcpy(host, a, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaMemcpy(kinds, p, n * sizeof(int), cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < n; i++) right = right && host[i] == (T)i && kinds[i] == (sizeof(T) <= 4 ? 2 : 1);
    cudaFree(a);
    cudaFree(p);
    return right;
}

int main() {
    int n = twice(32);
    return run<float>(n) && run<int>(n) && run<double>(n) && run<long long>(n) ? 0 : 1;
}
