// Two arrays share the dynamic memory of a block; the launch asks for the bytes of one of them.
// expect: out-of-bounds line=16 array=memory
// expect: out-of-bounds line=22 array=memory
// expect: out-of-bounds line=26 array=memory
// expect: status=1
#include <cstdio>
#include <cstdlib>

__global__ void sort_by_key(int *keys, float *values, int n)
{
    extern __shared__ int memory[];
    int *k = memory;
    float *v = (float *)(k + blockDim.x);
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    k[t] = i < n ? keys[i] : 0x7fffffff;
    v[t] = i < n ? values[i] : 0.0f;
    __syncthreads();
    for (int phase = 0; phase < blockDim.x; phase++) {
        int left = 2 * t + (phase & 1);
        if (left + 1 < blockDim.x && k[left] > k[left + 1]) {
            int a = k[left]; k[left] = k[left + 1]; k[left + 1] = a;
            float b = v[left]; v[left] = v[left + 1]; v[left + 1] = b;
        }
        __syncthreads();
    }
    if (i < n) { keys[i] = k[t]; values[i] = v[t]; }
}

int main()
{
    const int n = 300, threads = 128;
    int *keys = (int *)malloc(n * sizeof(int)), *d_keys;
    float *values = (float *)malloc(n * sizeof(float)), *d_values;
    srand(3);
    for (int i = 0; i < n; i++) { keys[i] = rand() % 1000; values[i] = (float)i; }
    cudaMalloc(&d_keys, n * sizeof(int));
    cudaMalloc(&d_values, n * sizeof(float));
    cudaMemcpy(d_keys, keys, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_values, values, n * sizeof(float), cudaMemcpyHostToDevice);
    sort_by_key<<<(n + threads - 1) / threads, threads, threads * sizeof(int)>>>(d_keys, d_values, n);
    cudaMemcpy(keys, d_keys, n * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d %d\n", keys[0], keys[1]);
    cudaFree(d_keys); cudaFree(d_values);
    free(keys); free(values);
    return 0;
}
