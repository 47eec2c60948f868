// Each thread sorts its part by a recursive quicksort; the host asks for a larger stack.
#include <cstdio>
#include <cstdlib>

__device__ void sort(float *a, int first, int last)
{
    while (first < last) {
        float pivot = a[last];
        int i = first;
        for (int j = first; j < last; j++) {
            if (a[j] < pivot) {
                float held = a[i];
                a[i++] = a[j];
                a[j] = held;
            }
        }
        a[last] = a[i];
        a[i] = pivot;
        // The longer part goes on here, so that the stack stays small.
        if (i - first < last - i) {
            sort(a, first, i - 1);
            first = i + 1;
        } else {
            sort(a, i + 1, last);
            last = i - 1;
        }
    }
}

__global__ void sort_parts(float *a, int part, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * part;
    int last = first + part - 1 < n - 1 ? first + part - 1 : n - 1;
    sort(a, first, last);
}

int main()
{
    const int n = 1500, part = 24;
    cudaDeviceSetLimit(cudaLimitStackSize, 8 * 1024);
    float *h = (float *)malloc(n * sizeof(float)), *d;
    srand(7);
    for (int i = 0; i < n; i++) h[i] = rand() % 1000;
    cudaMalloc((void **)&d, n * sizeof(float));
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    sort_parts<<<2, 32>>>(d, part, n);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 1; i < n; i++) wrong += i % part != 0 && h[i - 1] > h[i];
    printf("%d are out of order\n", wrong);
    cudaFree(d);
    free(h);
    return wrong != 0;
}
