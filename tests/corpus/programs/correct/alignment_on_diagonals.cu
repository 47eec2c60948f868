// Needleman-Wunsch on diagonals of tiles: a helper with its own attributes, macros as sizes, scores in constant memory.
#include <stdio.h>
#include <stdlib.h>
#define LIMIT -999
#define BLOCK_SIZE 16

__device__ __host__ int maximum(int a, int b, int c)
{
    int k;
    if (a <= b)
        k = b;
    else
        k = a;
    if (k <= c)
        return (c);
    else
        return (k);
}

__global__ void needle_cuda_shared_1(int *referrence, int *matrix_cuda, int cols, int penalty, int i, int block_width)
{
    int bx = blockIdx.x;
    int tx = threadIdx.x;
    int b_index_x = bx;
    int b_index_y = i - 1 - bx;
    int index = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + (cols + 1);
    int index_n = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + tx + (1);
    int index_w = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x + (cols);
    int index_nw = cols * BLOCK_SIZE * b_index_y + BLOCK_SIZE * b_index_x;
    __shared__ int temp[BLOCK_SIZE + 1][BLOCK_SIZE + 1];
    __shared__ int ref[BLOCK_SIZE][BLOCK_SIZE];
    if (tx == 0) temp[tx][0] = matrix_cuda[index_nw];
    for (int ty = 0; ty < BLOCK_SIZE; ty++) ref[ty][tx] = referrence[index + cols * ty];
    __syncthreads();
    temp[tx + 1][0] = matrix_cuda[index_w + cols * tx];
    __syncthreads();
    temp[0][tx + 1] = matrix_cuda[index_n];
    __syncthreads();
    for (int m = 0; m < BLOCK_SIZE; m++) {
        if (tx <= m) {
            int t_index_x = tx + 1;
            int t_index_y = m - tx + 1;
            temp[t_index_y][t_index_x] =
                maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                        temp[t_index_y][t_index_x - 1] - penalty, temp[t_index_y - 1][t_index_x] - penalty);
        }
        __syncthreads();
    }
    for (int m = BLOCK_SIZE - 2; m >= 0; m--) {
        if (tx <= m) {
            int t_index_x = tx + BLOCK_SIZE - m;
            int t_index_y = BLOCK_SIZE - tx;
            temp[t_index_y][t_index_x] =
                maximum(temp[t_index_y - 1][t_index_x - 1] + ref[t_index_y - 1][t_index_x - 1],
                        temp[t_index_y][t_index_x - 1] - penalty, temp[t_index_y - 1][t_index_x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < BLOCK_SIZE; ty++) matrix_cuda[index + ty * cols] = temp[ty + 1][tx + 1];
}

int blosum[3][3] = {{4, -1, -2}, {-1, 5, 0}, {-2, 0, 6}};

void runTest(int argc, char **argv)
{
    int max_rows = 48, max_cols, penalty = 10;
    int *input_itemsets, *referrence;
    int *matrix_cuda, *referrence_cuda;
    int size;
    max_cols = max_rows;
    max_rows = max_rows + 1;
    max_cols = max_cols + 1;
    referrence = (int *)malloc(max_rows * max_cols * sizeof(int));
    input_itemsets = (int *)malloc(max_rows * max_cols * sizeof(int));
    if (!input_itemsets) fprintf(stderr, "error: can not allocate memory");
    srand(7);
    for (int i = 0; i < max_cols; i++)
        for (int j = 0; j < max_rows; j++) input_itemsets[i * max_cols + j] = 0;
    for (int i = 1; i < max_rows; i++) input_itemsets[i * max_cols] = rand() % 3;
    for (int j = 1; j < max_cols; j++) input_itemsets[j] = rand() % 3;
    for (int i = 1; i < max_cols; i++)
        for (int j = 1; j < max_rows; j++)
            referrence[i * max_cols + j] = blosum[input_itemsets[i * max_cols]][input_itemsets[j]];
    for (int i = 1; i < max_rows; i++) input_itemsets[i * max_cols] = -i * penalty;
    for (int j = 1; j < max_cols; j++) input_itemsets[j] = -j * penalty;
    size = max_cols * max_rows;
    cudaMalloc((void **)&referrence_cuda, sizeof(int) * size);
    cudaMalloc((void **)&matrix_cuda, sizeof(int) * size);
    cudaMemcpy(referrence_cuda, referrence, sizeof(int) * size, cudaMemcpyHostToDevice);
    cudaMemcpy(matrix_cuda, input_itemsets, sizeof(int) * size, cudaMemcpyHostToDevice);
    dim3 dimGrid;
    dim3 dimBlock(BLOCK_SIZE, 1);
    int block_width = (max_cols - 1) / BLOCK_SIZE;
    for (int i = 1; i <= block_width; i++) {
        dimGrid.x = i;
        dimGrid.y = 1;
        needle_cuda_shared_1<<<dimGrid, dimBlock>>>(referrence_cuda, matrix_cuda, max_cols, penalty, i, block_width);
    }
    cudaMemcpy(input_itemsets, matrix_cuda, sizeof(int) * size, cudaMemcpyDeviceToHost);
    cudaFree(referrence_cuda);
    cudaFree(matrix_cuda);
    free(referrence);
}

int main(int argc, char **argv)
{
    runTest(argc, argv);
    return EXIT_SUCCESS;
}
