// Defect: one of the two conditions is enough for a warp to go on, and the program takes multiples of 16 only.
// expect: out-of-bounds line=16 array=d
// expect: race-global line=16 array=d
// expect: status=1
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

const int TILE = 16, WARPS = 4;

__global__ void fill(int rows, int columns, float *d)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * TILE, column = (blockIdx.y * blockDim.y + threadIdx.y) * TILE;
    if (row < rows || column < columns)
        for (int i = threadIdx.x % 32; i < TILE * TILE; i += 32)
            d[(row + i / TILE) * columns + column + i % TILE] = i;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        printf("%s ROWS COLUMNS\n", argv[0]);
        return 1;
    }
    int rows = atoi(argv[1]), columns = atoi(argv[2]);
    if (rows % TILE || columns % TILE || rows < TILE * WARPS || columns < TILE * WARPS) {
        printf("these sizes are not supported\n");
        return 1;
    }
    float *d;
    cudaMalloc(&d, rows * columns * sizeof(float));
    dim3 block(WARPS * 32, WARPS);
    dim3 grid((rows + TILE * WARPS - 1) / (TILE * WARPS), (columns + TILE * WARPS - 1) / (TILE * WARPS));
    fill<<<grid, block>>>(rows, columns, d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
