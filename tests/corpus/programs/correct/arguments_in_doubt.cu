// A program that wants arguments and is not right for one block along an axis: no other choice has that finding, so it is a note.
#include <cstdio>
#include <cstdlib>
#define B 16
__global__ void north_and_south(const float *in, float *out, int rows, int cols)
{
    __shared__ float south[B];
    int at = blockIdx.y * B * cols + threadIdx.x;
    if (blockIdx.y < gridDim.y - 1) south[threadIdx.x] = in[at + B * cols];
    if (blockIdx.y == 0) out[at] = in[at];
    else if (blockIdx.y == gridDim.y - 1) south[threadIdx.x] = in[at];
    out[at] = south[threadIdx.x];
}
int main(int argc, char **argv)
{
    if (argc != 3) { fprintf(stderr, "usage: %s rows cols\n", argv[0]); return 1; }
    int rows = atoi(argv[1]), cols = atoi(argv[2]);
    if (rows % B != 0 || cols % B != 0) return 1;
    float *in, *out;
    cudaMalloc(&in, rows * cols * sizeof(float));
    cudaMalloc(&out, rows * cols * sizeof(float));
    cudaMemset(in, 0, rows * cols * sizeof(float));
    north_and_south<<<dim3(1, rows / B), B>>>(in, out, rows, cols);
    printf("%d\n", (int)cudaDeviceSynchronize());
    cudaFree(in);
    cudaFree(out);
    return 0;
}
