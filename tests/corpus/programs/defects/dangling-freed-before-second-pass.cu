// Defect: the weights are freed after the first pass, and the second pass reads them.
// expect: dangling line=9 array=weights
// expect: status=1
#include <cstdio>
#include <vector>
__global__ void weigh(const float *weights, float *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= weights[i];
}
int main()
{
    const int n = 300;
    std::vector<float> host(n, 0.5f);
    float *weights, *values;
    cudaMalloc(&weights, n * sizeof(float));
    cudaMalloc(&values, n * sizeof(float));
    cudaMemcpy(weights, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(values, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    weigh<<<3, 128>>>(weights, values, n);
    cudaFree(weights);
    weigh<<<3, 128>>>(weights, values, n);
    cudaFree(values);
    return cudaDeviceSynchronize();
}
