// The second half of a table of structures is never copied.
// expect: uninitialized-variable line=11 array=table
// expect: status=1
#include <cstdio>
struct Entry { int first; float weight; };
const int COUNT = 8;
__constant__ Entry table[COUNT];
__global__ void gather(const float *in, float *out)
{
    int i = threadIdx.x;
    out[i] = in[table[i % COUNT].first] * table[i % COUNT].weight;
}
int main()
{
    Entry host[COUNT];
    for (int i = 0; i < COUNT; i++) { host[i].first = i; host[i].weight = 1.0f; }
    cudaMemcpyToSymbol(table, host, COUNT / 2 * sizeof(Entry));
    float *in, *out;
    cudaMalloc(&in, COUNT * sizeof(float));
    cudaMemset(in, 0, COUNT * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    gather<<<1, 32>>>(in, out);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
