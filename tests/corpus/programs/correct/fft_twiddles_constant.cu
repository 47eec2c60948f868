// Radix-2 FFT of many rows: bit reversal and one butterfly launch a stage, twiddles in constant memory that the host computes.
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#define N 256

__constant__ float2 twiddle[N / 2];
__device__ int stagesDone;

__global__ void bitReverse(const float2 *in, float2 *out, int logn)
{
    int i = threadIdx.x, row = blockIdx.x * N;
    out[row + (__brev(i) >> (32 - logn))] = in[row + i];
}

__global__ void butterfly(float2 *data, int half)
{
    int t = threadIdx.x, row = blockIdx.x * N;
    int group = t / half, k = t % half;
    int a = row + group * 2 * half + k, b = a + half;
    float2 w = twiddle[k * (N / 2 / half)];
    float2 x = data[a], y = data[b];
    float2 p = make_float2(w.x * y.x - w.y * y.y, w.x * y.y + w.y * y.x);
    data[a] = make_float2(x.x + p.x, x.y + p.y);
    data[b] = make_float2(x.x - p.x, x.y - p.y);
    if (blockIdx.x == 0 && t == 0) stagesDone += 1;
}

int main()
{
    const int rows = 5;
    const int logn = 8;
    float2 table[N / 2];
    for (int k = 0; k < N / 2; k++) {
        double angle = -2.0 * M_PI * k / N;
        table[k].x = (float)cos(angle);
        table[k].y = (float)sin(angle);
    }
    cudaMemcpyToSymbol(twiddle, table, sizeof(table));
    int zero = 0;
    cudaMemcpyToSymbol(stagesDone, &zero, sizeof(int), 0, cudaMemcpyHostToDevice);

    std::vector<float2> signal(rows * N);
    for (size_t i = 0; i < signal.size(); i++) signal[i] = make_float2(std::sin(0.1f * i), 0.0f);
    float2 *in, *out;
    cudaMalloc(&in, signal.size() * sizeof(float2));
    cudaMalloc(&out, signal.size() * sizeof(float2));
    cudaMemcpy(in, &signal[0], signal.size() * sizeof(float2), cudaMemcpyHostToDevice);
    bitReverse<<<rows, N>>>(in, out, logn);
    for (int half = 1; half < N; half *= 2) butterfly<<<rows, N / 2>>>(out, half);
    int done;
    cudaMemcpyFromSymbol(&done, stagesDone, sizeof(int));
    cudaMemcpy(signal.data(), out, signal.size() * sizeof(float2), cudaMemcpyDeviceToHost);
    printf("%d stages, %f\n", done, signal[1].x);
    cudaFree(in);
    cudaFree(out);
    return done == logn ? 0 : 1;
}
