// Defect: the guard lets one thread too many through where columns fill no block; and the two groups of rows have to be no more than
// there are, so that numbers which are all the same do not suit.
// expect: out-of-bounds line=15 array=out
// expect: status=1
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void sums(int columns, int rows, const int *data, int *out)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > columns) return;
    int sum = 0;
    for (int i = 0; i < rows; i++) sum += data[i * columns + (j < columns ? j : 0)];
    out[j] = sum;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        printf("%s ROWS COLUMNS FIRST SECOND\n", argv[0]);
        return 1;
    }
    int rows = atoi(argv[1]), columns = atoi(argv[2]), first = atoi(argv[3]), second = atoi(argv[4]);
    int *data, *out;
    cudaMalloc(&data, rows * columns * sizeof(int));
    cudaMalloc(&out, columns * sizeof(int));
    cudaMemset(data, 0, rows * columns * sizeof(int));
    sums<<<(columns + 15) / 16, 16>>>(columns, first + second, data, out);
    cudaDeviceSynchronize();
}
