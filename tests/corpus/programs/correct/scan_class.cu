// Inclusive prefix sum in three kernels behind a class that owns its buffers.
#include <cstdio>
#include <stdexcept>
#include <vector>

constexpr int BLOCK = 128;

__global__ void scanBlocks(const int *in, int *out, int *sums, int n)
{
    __shared__ int temp[2 * BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    int from = 0, to = 1;
    temp[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        temp[to * BLOCK + t] = temp[from * BLOCK + t] + (t >= d ? temp[from * BLOCK + t - d] : 0);
        __syncthreads();
        to = from;
        from = 1 - from;
    }
    if (i < n) out[i] = temp[from * BLOCK + t];
    if (t == BLOCK - 1) sums[blockIdx.x] = temp[from * BLOCK + t];
}

__global__ void addOffsets(int *out, const int *sums, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}

class Scanner {
    int n_;
    int blocks_;
    int *sums_;
    int *scanned_;
    int *total_;

public:
    explicit Scanner(int n) : n_(n), blocks_((n + BLOCK - 1) / BLOCK)
    {
        cudaMalloc(&sums_, blocks_ * sizeof(int));
        cudaMalloc(&scanned_, blocks_ * sizeof(int));
        cudaMalloc(&total_, sizeof(int));
    }
    ~Scanner()
    {
        cudaFree(sums_);
        cudaFree(scanned_);
        cudaFree(total_);
    }
    void run(const int *in, int *out)
    {
        scanBlocks<<<blocks_, BLOCK>>>(in, out, sums_, n_);
        scanBlocks<<<1, BLOCK>>>(sums_, scanned_, total_, blocks_);
        addOffsets<<<blocks_, BLOCK>>>(out, scanned_, n_);
    }
};

int main()
{
    const int n = 3000;
    std::vector<int> host(n), result(n);
    for (int i = 0; i < n; i++) host[i] = i % 7;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    Scanner scanner(n);
    scanner.run(in, out);
    if (cudaDeviceSynchronize() != cudaSuccess) throw std::runtime_error("scan failed");
    cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    int sum = 0, bad = 0;
    for (int i = 0; i < n; i++) {
        sum += host[i];
        if (result[i] != sum) bad++;
    }
    std::printf("%d wrong\n", bad);
    cudaFree(in);
    cudaFree(out);
    return bad != 0;
}
