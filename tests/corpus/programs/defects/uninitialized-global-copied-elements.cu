// A copy that counts elements where bytes are asked for: three quarters of the weights never arrive.
// expect: uninitialized-global line=14 array=d_weights
// expect: status=1
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void scores(const double *weights, const int *ids, double *result, int n, int classes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double best = -1e30;
    for (int c = 0; c < classes; c++) best = fmax(best, weights[ids[i] * classes + c]);
    result[i] = best;
}

struct Model { int rows, classes; double *weights; };

static Model make_model(int rows, int classes)
{
    Model m = { rows, classes, (double *)malloc(rows * classes * sizeof(double)) };
    for (int i = 0; i < rows * classes; i++) m.weights[i] = (i * 37 % 101) / 101.0;
    return m;
}

int main()
{
    Model m = make_model(50, 10);
    const int n = 200;
    int *ids = new int[n];
    for (int i = 0; i < n; i++) ids[i] = i % m.rows;
    double *d_weights, *d_result, *result = new double[n];
    int *d_ids;
    cudaMalloc(&d_weights, m.rows * m.classes * sizeof(double));
    cudaMalloc(&d_ids, n * sizeof(int));
    cudaMalloc(&d_result, n * sizeof(double));
    cudaMemcpy(d_weights, m.weights, m.rows * m.classes, cudaMemcpyHostToDevice);
    cudaMemcpy(d_ids, ids, n * sizeof *ids, cudaMemcpyHostToDevice);
    scores<<<(n + 127) / 128, 128>>>(d_weights, d_ids, d_result, n, m.classes);
    cudaMemcpy(result, d_result, n * sizeof(double), cudaMemcpyDeviceToHost);
    printf("%f\n", result[0]);
    cudaFree(d_weights); cudaFree(d_ids); cudaFree(d_result);
    delete[] ids; delete[] result; free(m.weights);
    return 0;
}
