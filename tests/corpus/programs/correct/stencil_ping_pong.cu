// Heat equation: two buffers that change places after each step, in a helper function.
#include <cstdlib>
#include <cstdio>
#include <utility>

#define IDX(i, j) ((i) * nx + (j))

__global__ void step(const double *__restrict__ old_u, double *__restrict__ new_u, int nx, int ny,
                     double alpha)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i < ny - 1 && j < nx - 1) {
        double centre = old_u[IDX(i, j)];
        new_u[IDX(i, j)] = centre + alpha * (old_u[IDX(i - 1, j)] + old_u[IDX(i + 1, j)] +
                                             old_u[IDX(i, j - 1)] + old_u[IDX(i, j + 1)] - 4.0 * centre);
    }
}

static double *make_grid(int nx, int ny)
{
    double *grid = (double *)calloc(nx * ny, sizeof(double));
    for (int j = 0; j < nx; j++) grid[IDX(0, j)] = 100.0;
    return grid;
}

static void simulate(double *host, int nx, int ny, int steps)
{
    double *a, *b;
    size_t size = sizeof(double) * nx * ny;
    cudaMalloc((void **)&a, size);
    cudaMalloc((void **)&b, size);
    cudaMemcpy(a, host, size, cudaMemcpyHostToDevice);
    cudaMemcpy(b, a, size, cudaMemcpyDeviceToDevice);
    dim3 block(16, 16);
    dim3 grid((nx - 2 + block.x - 1) / block.x, (ny - 2 + block.y - 1) / block.y);
    for (int t = 0; t < steps; t++) {
        step<<<grid, block>>>(a, b, nx, ny, 0.2);
        std::swap(a, b);
    }
    cudaMemcpy(host, a, size, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
}

int main(int argc, char *argv[])
{
    const int nx = argc > 1 ? atoi(argv[1]) : 70;
    const int ny = argc > 2 ? atoi(argv[2]) : 50;
    double *u = make_grid(nx, ny);
    simulate(u, nx, ny, 5);
    printf("%f\n", u[IDX(1, 1)]);
    free(u);
    return 0;
}
