// Arrays of several extents by `new`, numbers of rows and groups that an assertion ties to each other, and waiting for cycles to pass.
// nvcc: -std=c++14
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <iterator>

constexpr int W = 24;

// Counts up from a number, for loops over ranges.
struct Steps : std::iterator<std::forward_iterator_tag, int> {
    int at;
    __host__ __device__ explicit Steps(int at) : at(at) {}
    __host__ __device__ int operator*() const { return at; }
    __host__ __device__ Steps &operator++() {
        ++at;
        return *this;
    }
    __host__ __device__ bool operator!=(const Steps &other) const { return at != other.at; }
};

struct Columns {
    int n;
    __host__ __device__ Steps begin() const { return Steps(0); }
    __host__ __device__ Steps end() const { return Steps(n); }
};

// A row, by a pointer that nobody names.
template <typename T, typename P = const T *, class R = const T &> struct Row {
    P first;
    __device__ R at(int column) const { return first[column]; }
};

__global__ void sum_of_groups(const float *rows, float *sums, int n, int groups) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups) return;
    float sum = 0.0f;
    // Only where there are more rows than the square of the groups does each group have this many.
    for (int k = 0; k < groups; k++)
        for (int column : Columns{W}) sum += Row<float>{rows + (group * groups + k) * W}.at(column);
    sums[group] = sum / n;
}

__global__ void wait_for(long long *waited, long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
    *waited = cycles;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        printf("usage: %s <rows> <groups>\n", argv[0]);
        return 1;
    }
    const int n = atoi(argv[1]), groups = atoi(argv[2]);
    assert(n > groups * groups);

    float(*rows)[W] = new float[n][W];
    float(*boxes)[2][3] = new float[n][2][3];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < W; j++) rows[i][j] = (i + j) % 7;
        boxes[i][1][2] = rows[i][0];
    }

    float *d_rows, *d_sums;
    long long *d_waited;
    cudaMalloc(&d_rows, n * sizeof(rows[0]));
    cudaMalloc(&d_sums, groups * sizeof(float));
    cudaMalloc(&d_waited, sizeof(long long));
    cudaMemcpy(d_rows, rows, n * sizeof(rows[0]), cudaMemcpyHostToDevice);
    sum_of_groups<<<(groups + 31) / 32, 32>>>(d_rows, d_sums, n, groups);
    wait_for<<<1, 1>>>(d_waited, 200000000LL);
    cudaDeviceSynchronize();

    float first = 0.0f;
    cudaMemcpy(&first, d_sums, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f %f\n", first, boxes[n - 1][1][2]);
    cudaFree(d_rows);
    cudaFree(d_sums);
    cudaFree(d_waited);
    delete[] rows;
    delete[] boxes;
    return 0;
}
