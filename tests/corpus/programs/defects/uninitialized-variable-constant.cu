// The host computes the weights and forgets to copy them.
// expect: uninitialized-variable line=11 array=weights
// expect: status=1
#include <cstdio>
#define R 3
__constant__ float weights[2 * R + 1];
__global__ void blur(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = -R; k <= R; k++) sum += weights[k + R] * in[min(max(i + k, 0), n - 1)];
    if (i < n) out[i] = sum;
}
int main()
{
    const int n = 300;
    float host[n], w[2 * R + 1];
    for (int k = 0; k < 2 * R + 1; k++) w[k] = 1.0f / (2 * R + 1);
    for (int i = 0; i < n; i++) host[i] = i * w[0];
    float *in, *out;
    cudaMalloc(&in, sizeof(host));
    cudaMalloc(&out, sizeof(host));
    cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
    blur<<<3, 100>>>(in, out, n);
    cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
    printf("%f\n", host[1]);
}
