// A reference on the host in loops of all kinds, before and after the kernel; what it counts decides the launch
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

struct Cell {
    float heat;
    int age;
};

__host__ __device__ inline float mixed(float a, float b, float w) { return a + (b - a) * w; }

__global__ void relax(const Cell *from, float *to, int rows, int columns, float weight) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= columns || y >= rows) return;
    float around = 0.0f;
    int seen = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int u = x + dx, v = y + dy;
            if (u < 0 || v < 0 || u >= columns || v >= rows || (dx == 0 && dy == 0)) continue;
            around += from[v * columns + u].heat;
            seen++;
        }
    to[y * columns + x] = mixed(from[y * columns + x].heat, around / seen, weight);
}

static int clipped(int at, int most) {
    if (at < 0) return -1;
    return at < most ? at : -1;
}

static void reference(const Cell *from, std::vector<float> &to, int rows, int columns, float weight) {
    int x, y;
#pragma omp parallel for private(x)
    for (y = 0; y < rows; y++)
        for (x = 0; x < columns; x++) {
            float around = 0.0f;
            int seen = 0, step = 0;
            do {
                int u = clipped(x + step % 3 - 1, columns), v = clipped(y + step / 3 - 1, rows);
                switch (step) {
                case 4: break;
                default:
                    if (u < 0 || v < 0) break;
                    around += from[v * columns + u].heat;
                    seen++;
                }
            } while (++step < 9);
            to[y * columns + x] = mixed(from[y * columns + x].heat, around / seen, weight);
        }
}

int main() {
    const int rows = 37, columns = 50, n = rows * columns;
    std::vector<Cell> cells(n);
    unsigned state = 12345u;
    int hot = 0;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        cells[i].heat = (state >> 8) * (1.0f / 16777216.0f);
        cells[i].age = i % 7;
        if (cells[i].heat > 0.5f) hot++;
    }
    int table[4][8];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 8; j++) table[i][j] = i == 0 ? 1 : table[i - 1][j] + (j ? table[i][j - 1] : 1);
    int width = 1;
    while (width * 2 <= std::min(table[3][3], hot)) width *= 2;

    std::vector<float> wanted(n), got(n);
    reference(cells.data(), wanted, rows, columns, 0.25f);
    Cell *from;
    float *to;
    cudaMalloc(&from, n * sizeof(Cell));
    cudaMalloc(&to, n * sizeof(float));
    cudaMemcpy(from, cells.data(), n * sizeof(Cell), cudaMemcpyHostToDevice);
    dim3 block(width, 4);
    relax<<<dim3((columns + width - 1) / width, (rows + 3) / 4), block>>>(from, to, rows, columns, 0.25f);
    cudaMemcpy(got.data(), to, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    double worst = 0.0;
#pragma omp parallel
    {
        worst = 0.0;
    }
    for (int i = 0; i < n; i++) {
        double error = std::fabs((double)got[i] - wanted[i]);
        worst = error > worst ? error : worst;
        if (error > 1e-5) wrong++;
    }
    printf("%d cells, worst %g: %s\n", n, worst, wrong ? "FAILED" : "PASSED");
    cudaFree(from);
    cudaFree(to);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
