// Two groups of rows, which together are no more than there are; a window that is narrower than a row. Numbers that are all the
// same are no arguments for that.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void differences(int columns, int first, int second, int window, const float *data, float *out)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    float a = 0, b = 0;
    for (int i = 0; i < first; i++) a += data[i * columns + j];
    for (int i = first; i < first + second; i++) b += data[i * columns + j];
    out[j] = a / first - b / second;
    if (j == 0) out[columns - window - 1] = 0;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        printf("%s ROWS COLUMNS FIRST SECOND WINDOW\n", argv[0]);
        return 1;
    }
    int rows = atoi(argv[1]), columns = atoi(argv[2]), first = atoi(argv[3]), second = atoi(argv[4]), window = atoi(argv[5]);
    float *host = (float *)malloc(rows * columns * sizeof(float)), *data, *out;
    for (int i = 0; i < rows * columns; i++) host[i] = i % 5;
    cudaMalloc(&data, rows * columns * sizeof(float));
    cudaMalloc(&out, columns * sizeof(float));
    cudaMemcpy(data, host, rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    differences<<<(columns + 31) / 32, 32>>>(columns, first, second, window, data, out);
    cudaDeviceSynchronize();
    free(host);
}
