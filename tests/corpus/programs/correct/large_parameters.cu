// A parameter of 32,000 bytes, as kernels may have since CUDA 12.1, with functions for the host and for processors beside it.
#include <cstdio>
#include <cuda_runtime.h>
#include <omp.h>

struct Table {
    int values[8000];
};

__global__ void sum(__grid_constant__ const Table table, int *result)
{
    int total = 0;
    for (int i = threadIdx.x; i < 8000; i += blockDim.x) total += table.values[i];
    atomicAdd(result, total);
}

void report(void *data) { printf("%d\n", *(int *)data); }

int main()
{
    Table table;
    for (int i = 0; i < 8000; i++) table.values[i] = i % 7;
    int *result, total = 0;
    omp_set_num_threads(omp_get_num_procs());
    cudaMalloc(&result, sizeof(int));
    cudaMemset(result, 0, sizeof(int));
    sum<<<1, 32>>>(table, result);
    cudaMemcpy(&total, result, sizeof(int), cudaMemcpyDeviceToHost);
    cudaHostFn_t function = report;
    cudaLaunchHostFunc(0, function, &total);
    cudaFree(result);
    return 0;
}
