// A filter with 32 coefficients in constant memory, the plan left to the tool (`--auto`).
#include <cmath>
#include <cstdio>
#include <vector>

#define TAPS 32

__constant__ float h[TAPS];

__global__ void fir(const float *__restrict__ signal, float *__restrict__ filtered, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0.0f;
    for (int k = 0; k < TAPS; k++) {
        if (i - k < 0) continue;
        sum += h[k] * signal[i - k];
    }
    filtered[i] = sum;
}

int main()
{
    const int count = 1 << 25;
    std::vector<float> taps(TAPS), in(count), out(count);
    for (int k = 0; k < TAPS; k++) taps[k] = 1.0f / (k + 2);
    for (int i = 0; i < count; i++) in[i] = (float)(i * 7919LL % 1013) / 1013.0f;
    float *d_in, *d_out;
    cudaMalloc(&d_in, count * sizeof(float));
    cudaMalloc(&d_out, count * sizeof(float));
    cudaMemcpy(d_in, in.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(h, taps.data(), TAPS * sizeof(float));
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    fir<<<(count + 255) / 256, 256>>>(d_in, d_out, count);
    cudaEventRecord(begin);
    for (int i = 0; i < 20; i++) fir<<<(count + 255) / 256, 256>>>(d_in, d_out, count);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (cudaMemcpy(out.data(), d_out, count * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    int wrong = 0;
    for (int i = 0; i < count; i += i < 1000 ? 1 : 997) {
        double sum = 0;
        for (int k = 0; k < TAPS && k <= i; k++) sum += (double)taps[k] * in[i - k];
        wrong += std::fabs(sum - out[i]) > 1e-4;
    }
    printf("%s %.1f us\n", wrong ? "FAILED" : "passed", 1000.0f * ms / 20);
    return wrong != 0;
}
