// Vectors filled by a length and a value of one type, grown in their middle, and by references to new elements
#include <cstdio>
#include <deque>
#include <utility>
#include <vector>
#include <cuda_runtime.h>

struct Row {
    std::vector<int> columns;
    int weight = 1;
};

__global__ void row_sums(const int *first, const int *columns, int *sums, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int sum = 0;
    for (int i = first[r]; i < first[r + 1]; i++) sum += columns[i];
    sums[r] = sum;
}

int main() {
    const int rows = 70;
    std::vector<Row> table;
    for (int r = 0; r < rows; r++) {
        auto &row = table.emplace_back();
        row.columns.assign(r % 5, 2);
        row.columns.insert(row.columns.begin(), 2, r);
        row.weight += r;
    }
    std::vector<int> first, columns, wanted;
    first.assign(1, 0);
    for (const auto &row : table) {
        int sum = 0;
        for (int c : row.columns) sum += c;
        columns.insert(columns.end(), row.columns.begin(), row.columns.end());
        first.push_back((int)columns.size());
        wanted.emplace_back(sum) *= 1;
    }
    std::deque<int> tail(3, 0);
    int *d_first, *d_columns, *d_sums;
    cudaMalloc(&d_first, first.size() * sizeof(int));
    cudaMalloc(&d_columns, columns.size() * sizeof(int));
    cudaMalloc(&d_sums, rows * sizeof(int));
    cudaMemcpy(d_first, first.data(), first.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_columns, columns.data(), columns.size() * sizeof(int), cudaMemcpyHostToDevice);
    row_sums<<<(int)tail.size(), 32>>>(d_first, d_columns, d_sums, rows);
    std::vector<int> sums;
    sums.assign(rows, 0);
    cudaMemcpy(sums.data(), d_sums, rows * sizeof(int), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int r = 0; r < rows; r++)
        if (sums[r] != wanted[r]) wrong++;
    printf("%d rows of %d columns, %d wrong\n", rows, first.back(), wrong);
    cudaFree(d_first);
    cudaFree(d_columns);
    cudaFree(d_sums);
    return wrong == 0 && first.back() == 280 ? 0 : 1;
}
