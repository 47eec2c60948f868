// An array is as long as another one should be: where both sizes are the same nothing shows, and nobody gave them.
// expect: out-of-bounds line=10 array=d_bias
// expect: status=0
#include <cstdio>
#include <cstdlib>

__global__ void activate(const float *bias, const float *input, float *output, int neurons, int items)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < neurons * items) output[i] = input[i / neurons] + bias[i % neurons];
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        printf("usage: %s neurons items\n", argv[0]);
        return 1;
    }
    int neurons = atoi(argv[1]), items = atoi(argv[2]);
    float *d_bias, *d_input, *d_output;
    cudaMalloc(&d_bias, items * sizeof(float));
    cudaMalloc(&d_input, items * sizeof(float));
    cudaMalloc(&d_output, neurons * items * sizeof(float));
    cudaMemset(d_bias, 0, items * sizeof(float));
    cudaMemset(d_input, 0, items * sizeof(float));
    activate<<<(neurons * items + 63) / 64, 64>>>(d_bias, d_input, d_output, neurons, items);
    cudaDeviceSynchronize();
    return 0;
}
