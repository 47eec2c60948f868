// Rows behind an array of pointers of the device, each allocated for itself.
#include <cstdlib>
__global__ void sums(float **rows, float *out, int n, int m)
{
    int i = threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int j = 0; j < m; j++) s += rows[i][j];
    out[i] = s;
}
int main()
{
    int n = 8, m = 16;
    float **h = (float **)malloc(n * sizeof(float *)), **d, *out;
    float row[16];
    for (int j = 0; j < m; j++) row[j] = j;
    for (int i = 0; i < n; i++) {
        cudaMalloc(&h[i], m * sizeof(float));
        cudaMemcpy(h[i], row, m * sizeof(float), cudaMemcpyHostToDevice);
    }
    cudaMalloc(&d, n * sizeof(float *));
    cudaMemcpy(d, h, n * sizeof(float *), cudaMemcpyHostToDevice);
    cudaMalloc(&out, n * sizeof(float));
    sums<<<1, 32>>>(d, out, n, m);
    for (int i = 0; i < n; i++) cudaFree(h[i]);
}
