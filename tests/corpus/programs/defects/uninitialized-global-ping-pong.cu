// Only the interior of the second buffer is written; the next step reads its border.
// expect: uninitialized-global line=10 array=b
// expect: status=1
#include <cstdlib>
#include <utility>
__global__ void jacobi(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        to[i] = 0.5f * (from[i - 1] + from[i + 1]);
}
int main(int argc, char **argv)
{
    const int n = 200;
    float host[n] = {};
    host[0] = 1.0f;
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(a, host, sizeof(host), cudaMemcpyHostToDevice);
    for (int step = 0; step < 3; ++step) {
        jacobi<<<2, 100>>>(a, b, n);
        std::swap(a, b);
    }
    cudaMemcpy(host, a, sizeof(host), cudaMemcpyDeviceToHost);
    return 0;
}
