// Defect: the array of results has no room for the last column, whatever the sizes are.
// expect: out-of-bounds line=13 array=out
// expect: status=1
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void sums(int rows, int columns, const float *data, float *out)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0;
    for (int i = 0; i < rows && j < columns; i++) a += data[i * columns + j];
    if (j < columns) out[j] = a;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        printf("%s ROWS COLUMNS TIMES\n", argv[0]);
        return 1;
    }
    int rows = atoi(argv[1]), columns = atoi(argv[2]), times = atoi(argv[3]);
    float *data, *out;
    cudaMalloc(&data, rows * columns * sizeof(float));
    cudaMalloc(&out, (columns - 1) * sizeof(float));
    cudaMemset(data, 0, rows * columns * sizeof(float));
    for (int i = 0; i < times; i++) sums<<<(columns + 31) / 32, 32>>>(rows, columns, data, out);
    cudaDeviceSynchronize();
}
