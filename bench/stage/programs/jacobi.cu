// Jacobi iteration of the Laplace equation: the edges are given and stay, two arrays change places after every step. The plan is
// left to the tool (`--auto`), which may let a launch do two steps.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define BLOCK_X 32
#define BLOCK_Y 16

__global__ void jacobiStep(const float *__restrict__ uOld, float *__restrict__ uNew, int width, int height)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col > 0 && col < width - 1 && row > 0 && row < height - 1) {
        const int at = row * width + col;
        uNew[at] = 0.25f * (uOld[at - 1] + uOld[at + 1] + uOld[at - width] + uOld[at + width]);
    }
}

static float edge(int x, int y) { return 1.0f + 0.001f * (float)((x * 7 + y * 13) % 101); }

// Solves, returns whether the result is that of the host (when asked), and the time of a step.
static bool solve(int width, int height, int steps, bool check, float *us)
{
    const size_t bytes = (size_t)width * height * sizeof(float);
    std::vector<float> start((size_t)width * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) start[(size_t)y * width + x] = edge(x, y);
    float *d_a, *d_b;
    cudaMalloc(&d_a, bytes);
    cudaMalloc(&d_b, bytes);
    cudaMemcpy(d_a, start.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, d_a, bytes, cudaMemcpyDeviceToDevice);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);
    cudaEventRecord(begin);
    for (int step = 0; step < steps; step++) {
        jacobiStep<<<grid, block>>>(d_a, d_b, width, height);
        float *d_t = d_a;
        d_a = d_b;
        d_b = d_t;
    }
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(us, begin, end);
    *us *= 1000.0f / steps;
    std::vector<float> result(start.size()), before(start.size());
    cudaMemcpy(result.data(), d_a, bytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(before.data(), d_b, bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_a);
    cudaFree(d_b);
    if (cudaGetLastError() != cudaSuccess) return false;
    if (!check) return true;
    std::vector<float> a = start, b = start;
    for (int step = 0; step < steps; step++) {
        for (int y = 1; y < height - 1; y++)
            for (int x = 1; x < width - 1; x++) {
                const size_t at = (size_t)y * width + x;
                b[at] = 0.25f * (a[at - 1] + a[at + 1] + a[at - width] + a[at + width]);
            }
        a.swap(b);
    }
    double worst = 0;
    for (size_t i = 0; i < a.size(); i++) {
        worst = std::fmax(worst, std::fabs(a[i] - result[i]));
        worst = std::fmax(worst, std::fabs(b[i] - before[i]));
    }
    return worst < 1e-5;
}

int main()
{
    float us;
    for (int steps : {1, 2, 3, 4, 5, 6, 7, 21}) {
        if (!solve(517, 301, steps, true, &us)) {
            printf("FAILED after %d steps\n", steps);
            return 1;
        }
    }
    if (!solve(8192, 8192, 200, false, &us)) return 2;
    printf("passed %.1f us a step\n", us);
    return 0;
}
