// Sum of an array: a partial sum a block, a second launch for the partial sums; every call in an error macro, sizes from
// the command line with defaults.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t err = (call);                                                          \
        if (err != cudaSuccess) {                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));   \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

__global__ void reduceSum(const float *in, float *out, unsigned int n)
{
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    float sum = (i < n) ? in[i] : 0.0f;
    if (i + blockDim.x < n) sum += in[i + blockDim.x];
    sdata[tid] = sum;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sdata[0];
}

static void fill(float *data, int n)
{
    srand(2024);
    for (int i = 0; i < n; ++i) data[i] = (float)(rand() & 0xFF) / 255.0f;
}

int main(int argc, char **argv)
{
    int n = 10000;
    int threads = 256;
    if (argc > 1) n = atoi(argv[1]);
    if (argc > 2) threads = atoi(argv[2]);
    printf("Reducing %d elements\n", n);

    size_t bytes = n * sizeof(float);
    float *h_in = (float *)malloc(bytes);
    if (h_in == NULL) return EXIT_FAILURE;
    fill(h_in, n);

    int blocks = (n + threads * 2 - 1) / (threads * 2);
    float *d_in = NULL, *d_out = NULL, *d_sum = NULL;
    CUDA_CHECK(cudaMalloc((void **)&d_in, bytes));
    CUDA_CHECK(cudaMalloc((void **)&d_out, blocks * sizeof(float)));
    CUDA_CHECK(cudaMalloc((void **)&d_sum, sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_in, h_in, bytes, cudaMemcpyHostToDevice));

    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaEventRecord(start, 0));
    reduceSum<<<blocks, threads, threads * sizeof(float)>>>(d_in, d_out, n);
    reduceSum<<<1, threads, threads * sizeof(float)>>>(d_out, d_sum, blocks);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(stop, 0));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float ms = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));

    float gpu = 0.0f;
    CUDA_CHECK(cudaMemcpy(&gpu, d_sum, sizeof(float), cudaMemcpyDeviceToHost));
    double cpu = 0.0;
    for (int i = 0; i < n; ++i) cpu += h_in[i];
    printf("%f %f in %f ms\n", gpu, cpu, ms);
    bool pass = fabs(gpu - cpu) < 1e-3 * cpu;
    printf("%s\n", pass ? "PASSED" : "FAILED");

    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_sum));
    free(h_in);
    return pass ? EXIT_SUCCESS : EXIT_FAILURE;
}
