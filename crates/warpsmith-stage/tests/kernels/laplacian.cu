#include <cstdio>
#include <vector>
#define IDX(i, j, k) ((i) + nx * ((j) + ny * (k)))
__constant__ double coef[2];
__global__ void laplacian(const double *__restrict__ f, double *__restrict__ lap, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
        for (int k = 1; k < nz - 1; ++k)
            lap[IDX(i, j, k)] = coef[0] * f[IDX(i, j, k)]
                + coef[1] * (f[IDX(i - 1, j, k)] + f[IDX(i + 1, j, k)] + f[IDX(i, j - 1, k)] + f[IDX(i, j + 1, k)]
                           + f[IDX(i, j, k - 1)] + f[IDX(i, j, k + 1)]);
}
int main()
{
    int nx = 40, ny = 30, nz = 20;
    std::vector<double> h(nx * ny * nz, 1.5);
    double c[2] = {-6.0, 1.0}, *f, *l;
    cudaMalloc((void **)&f, h.size() * sizeof(double));
    cudaMalloc((void **)&l, h.size() * sizeof(double));
    cudaMemset(l, 0, h.size() * sizeof(double));
    cudaMemcpyToSymbol(coef, c, sizeof c);
    cudaMemcpy(f, h.data(), h.size() * sizeof(double), cudaMemcpyHostToDevice);
    dim3 threads(32, 4), blocks((nx + 31) / 32, (ny + 3) / 4);
    laplacian<<<blocks, threads>>>(f, l, nx, ny, nz);
    cudaMemcpy(h.data(), l, h.size() * sizeof(double), cudaMemcpyDeviceToHost);
    printf("%g\n", h[1000]);
    cudaFree(f); cudaFree(l);
    return 0;
}
