// The rows of a separable convolution: coefficients in constant memory, zeros beyond the image, several results a thread.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define KERNEL_RADIUS     8
#define KERNEL_LENGTH     (2 * KERNEL_RADIUS + 1)
#define ROWS_BLOCKDIM_X   64
#define ROWS_BLOCKDIM_Y   4
#define ROWS_RESULT_STEPS 4
#define ROWS_WIDTH        (ROWS_BLOCKDIM_X * ROWS_RESULT_STEPS)

__constant__ float c_Kernel[KERNEL_LENGTH];

#define IMUL(a, b) ((a) * (b))

__global__ void convolutionRowsKernel(float *d_Dst, const float *d_Src, int imageW, int imageH, int pitch)
{
    __shared__ float s_Data[ROWS_BLOCKDIM_Y][ROWS_WIDTH];

    const int baseX = blockIdx.x * ROWS_WIDTH + threadIdx.x;
    const int baseY = blockIdx.y * ROWS_BLOCKDIM_Y + threadIdx.y;

    for (int step = 0; step < ROWS_RESULT_STEPS; step++) {
        const int x = baseX + step * ROWS_BLOCKDIM_X;
        if (x < imageW && baseY < imageH)
            s_Data[threadIdx.y][threadIdx.x + step * ROWS_BLOCKDIM_X] = d_Src[IMUL(baseY, pitch) + x];
    }
    __syncthreads();

    if (baseY >= imageH) return;
    for (int step = 0; step < ROWS_RESULT_STEPS; step++) {
        const int x = baseX + step * ROWS_BLOCKDIM_X;
        if (x < imageW) {
            float sum = 0;
            for (int j = -KERNEL_RADIUS; j <= KERNEL_RADIUS; j++) {
                if (x + j >= 0 && x + j < imageW)
                    sum += c_Kernel[KERNEL_RADIUS - j] * __opt__(d_Src[IMUL(baseY, pitch) + x + j]);
            }
            d_Dst[IMUL(baseY, pitch) + x] = sum;
        }
    }
}

static void convolutionRowCPU(float *dst, const float *src, const float *kernel, int imageW, int imageH, int pitch)
{
    for (int y = 0; y < imageH; y++)
        for (int x = 0; x < imageW; x++) {
            double sum = 0;
            for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++) {
                int d = x + k;
                if (d >= 0 && d < imageW) sum += (double)src[y * pitch + d] * kernel[KERNEL_RADIUS - k];
            }
            dst[y * pitch + x] = (float)sum;
        }
}

int main(void)
{
    const int imageW = 4000, imageH = 2999, pitch = 4096, iterations = 20;
    std::vector<float> kernel(KERNEL_LENGTH), input((size_t)pitch * imageH), cpu(input.size()), gpu(input.size());
    srand(200);
    for (float &k : kernel) k = (float)(rand() % 16);
    for (float &p : input) p = (float)(rand() % 16);

    float *d_Input, *d_Output;
    cudaMalloc((void **)&d_Input, input.size() * sizeof(float));
    cudaMalloc((void **)&d_Output, input.size() * sizeof(float));
    cudaMemcpyToSymbol(c_Kernel, kernel.data(), KERNEL_LENGTH * sizeof(float));
    cudaMemcpy(d_Input, input.data(), input.size() * sizeof(float), cudaMemcpyHostToDevice);

    dim3 blocks((imageW + ROWS_WIDTH - 1) / ROWS_WIDTH, (imageH + ROWS_BLOCKDIM_Y - 1) / ROWS_BLOCKDIM_Y);
    dim3 threads(ROWS_BLOCKDIM_X, ROWS_BLOCKDIM_Y);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    for (int i = -1; i < iterations; i++) {
        // -1 is the warm-up
        if (i == 0) cudaEventRecord(start);
        convolutionRowsKernel<<<blocks, threads>>>(d_Output, d_Input, imageW, imageH, pitch);
    }
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms;
    cudaEventElapsedTime(&ms, start, stop);
    if (cudaMemcpy(gpu.data(), d_Output, gpu.size() * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;

    convolutionRowCPU(cpu.data(), input.data(), kernel.data(), imageW, imageH, pitch);
    double sum = 0, delta = 0;
    for (int y = 0; y < imageH; y++)
        for (int x = 0; x < imageW; x++) {
            const size_t at = (size_t)y * pitch + x;
            delta += (gpu[at] - cpu[at]) * (gpu[at] - cpu[at]);
            sum += cpu[at] * cpu[at];
        }
    const double L2norm = std::sqrt(delta / sum);
    printf("%s %.1f us\n", L2norm < 1e-6 ? "passed" : "FAILED", 1e3f * ms / iterations);
    return L2norm < 1e-6 ? 0 : 1;
}
