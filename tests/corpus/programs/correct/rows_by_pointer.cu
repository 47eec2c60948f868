// Rows of a matrix by pointers, made by `new T *[n]`; options by letters, which the program's text about its use names.
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Row { float *x; };
__global__ void sums(const float *m, float *s, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += m[r * cols + c];
    s[r] = sum;
}
int main(int argc, char *argv[])
{
    int size = 0;
    if (argc < 2) {
        printf("Usage: sums -f filename / -s size [-q]\n");
        exit(0);
    }
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') continue;
        switch (argv[i][1]) {
        case 's': size = atoi(argv[++i]); break;
        case 'q': break;
        }
    }
    if (size == 0) return 1;
    float *data = new float[size * size];
    float **rows;
    rows = new float*[size];
    Row **all = new Row *[size];
    std::vector<int> **lists = new std::vector<int>*[2];
    lists[0] = new std::vector<int>(3);
    for (int i = 0; i < size; i++) {
        rows[i] = data + i * size;
        all[i] = new Row();
        all[i]->x = rows[i];
        for (int j = 0; j < size; j++) all[i]->x[j] = i * 0.5f + j + lists[0]->size();
    }
    float *m, *s;
    cudaMalloc(&m, size * size * sizeof(float));
    cudaMalloc(&s, size * sizeof(float));
    cudaMemcpy(m, rows[0], size * size * sizeof(float), cudaMemcpyHostToDevice);
    sums<<<(size + 31) / 32, 32>>>(m, s, size, size);
    cudaMemcpy(data, s, size * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", data[0]);
    delete[] rows;
    delete[] data;
}
