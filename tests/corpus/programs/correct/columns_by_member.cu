// The host says which member of each record is summed, by a pointer to it
#include <cstdio>
#include <cstdlib>
struct Record { int id; float price; double weight; };
__global__ void column(const Record *records, float Record::*member, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = records[i].*member;
}
int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    Record *h = (Record *)malloc(n * sizeof(Record)), *d;
    for (int i = 0; i < n; i++) h[i] = {i, 0.5f * i, 1.0};
    float *out, *back = (float *)malloc(n * sizeof(float));
    cudaMalloc(&d, n * sizeof(Record));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(Record), cudaMemcpyHostToDevice);
    column<<<(n + 127) / 128, 128>>>(d, &Record::price, out, n);
    cudaMemcpy(back, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    if (back[3] != 1.5f) return 1;
    printf("%f\n", back[n - 1]);
    return 0;
}
