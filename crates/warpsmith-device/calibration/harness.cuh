// Runs one instantiated kernel: attributes, the driver's occupancy at several amounts of dynamic shared
// memory, and the median time of up to nine launches, as one line of text.
#include <algorithm>
#include <cstdio>
#include <vector>
#include "kernels.cuh"

static float *in1, *in2, *result;

static void prepare() {
    const size_t bytes = sizeof(float) * STENCIL_N * STENCIL_N * STENCIL_N;
    cudaMalloc(&in1, bytes); cudaMalloc(&in2, bytes); cudaMalloc(&result, bytes);
    std::vector<float> data(bytes / 4);
    for (size_t i = 0; i < data.size(); ++i) data[i] = (float)((i * 2654435761u >> 8) & 0xffff) / 65536.0f - 0.5f;
    cudaMemcpy(in1, data.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(in2, data.data() + 12345, bytes - 4 * 12345, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(conv_filter, data.data(), sizeof(float) * CONV_F * CONV_F);
}

template <class K, class L> static void measure(int id, K kernel, int threads, L launch) {
    cudaFuncAttributes a;
    cudaFuncGetAttributes(&a, kernel);
    cudaEvent_t s, e;
    cudaEventCreate(&s); cudaEventCreate(&e);
    std::vector<float> times;
    launch();
    if (cudaDeviceSynchronize() != cudaSuccess) { printf("%d failed %s\n", id, cudaGetErrorString(cudaGetLastError())); return; }
    for (int i = 0; i < 9 && (i < 3 || times[0] < 20); ++i) {
        cudaEventRecord(s); launch(); cudaEventRecord(e); cudaEventSynchronize(e);
        float ms; cudaEventElapsedTime(&ms, s, e); times.push_back(ms);
    }
    std::sort(times.begin(), times.end());
    printf("%d %d %d %d %.6f", id, a.numRegs, (int)a.sharedSizeBytes, (int)a.localSizeBytes, times[times.size() / 2]);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - (int)a.sharedSizeBytes);
    for (int dynamic : {0, 1000, 7777, 20000, 50000, 100000}) {
        int blocks = -1;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic);
        printf(" %d:%d", dynamic, blocks);
    }
    printf("\n");
    fflush(stdout);
}
