// expect: invalid-pointer line=15
// expect: status=1
// Defect: the copy to the device says that it goes to the host
#include <cstdio>
__global__ void twice(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
int main()
{
    float host[64], *x;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyDeviceToHost);
    cudaMemset(x, 0, sizeof(host));
    twice<<<1, 64>>>(x, 64);
    cudaDeviceSynchronize();
}
