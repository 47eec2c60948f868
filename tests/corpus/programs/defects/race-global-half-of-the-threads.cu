// Every thread adds to a bin, but those of the upper half of a block without an atomic operation.
// expect: race-global line=17 array=d_degree
// expect: race-global line=18 array=d_degree
// expect: race-global line=20 array=d_degree
// expect: race-global line=21 array=d_degree
// expect: status=1
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__global__ void degrees(const int2 *edges, int *degree, int count)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    int2 edge = edges[e];
    if (threadIdx.x < blockDim.x / 2) {
        atomicAdd(&degree[edge.x], 1);
        atomicAdd(&degree[edge.y], 1);
    } else {
        degree[edge.x]++;
        degree[edge.y]++;
    }
}

int main()
{
    const int vertices = 100;
    std::vector<int2> edges;
    for (int v = 0; v < vertices; v++)
        for (int step = 1; step <= 3; step++) edges.push_back(make_int2(v, (v + step * step) % vertices));
    int2 *d_edges;
    int *d_degree;
    cudaMalloc(&d_edges, edges.size() * sizeof(int2));
    cudaMalloc(&d_degree, vertices * sizeof(int));
    cudaMemcpy(d_edges, edges.data(), edges.size() * sizeof(int2), cudaMemcpyHostToDevice);
    cudaMemset(d_degree, 0, vertices * sizeof(int));
    degrees<<<((int)edges.size() + 63) / 64, 64>>>(d_edges, d_degree, (int)edges.size());
    std::vector<int> degree(vertices);
    cudaMemcpy(degree.data(), d_degree, vertices * sizeof(int), cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int d : degree) sum += d;
    printf("%d of %d\n", sum, (int)edges.size() * 2);
    cudaFree(d_edges);
    cudaFree(d_degree);
    return 0;
}
