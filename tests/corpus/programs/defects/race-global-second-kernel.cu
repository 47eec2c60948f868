// The first kernel is right; the second one, launched from a loop over levels, writes where its neighbours read.
// expect: race-global line=16 array=level
// expect: status=1
#include <cstdlib>
#include <vector>
__global__ void init(int *level, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) level[i] = i == 0 ? 0 : 1 << 20;
}
__global__ void relax(const int *head, const int *next, int *level, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int e = head[i]; e < head[i + 1]; e++)
        level[next[e]] = min(level[next[e]], level[i] + 1);
}
int main()
{
    const int n = 64;
    std::vector<int> head, next;
    for (int i = 0; i < n; i++) {
        head.push_back(next.size());
        next.push_back((i + 1) % n);
        next.push_back((i * 7 + 3) % n);
    }
    head.push_back(next.size());
    int *d_head, *d_next, *level;
    cudaMalloc(&d_head, head.size() * sizeof(int));
    cudaMalloc(&d_next, next.size() * sizeof(int));
    cudaMalloc(&level, n * sizeof(int));
    cudaMemcpy(d_head, head.data(), head.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_next, next.data(), next.size() * sizeof(int), cudaMemcpyHostToDevice);
    init<<<2, 32>>>(level, n);
    for (int step = 0; step < 4; step++) relax<<<2, 32>>>(d_head, d_next, level, n);
    cudaDeviceSynchronize();
}
