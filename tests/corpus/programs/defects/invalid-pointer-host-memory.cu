// The kernel gets the pointer of the host.
// expect: invalid-pointer line=15
// expect: status=1
#include <stdlib.h>
__global__ void twice(int *v)
{
    v[threadIdx.x] *= 2;
}
int main()
{
    int *v = (int *)malloc(32 * sizeof(int)), *d;
    for (int i = 0; i < 32; i++) v[i] = i;
    cudaMalloc(&d, 32 * sizeof(int));
    cudaMemcpy(d, v, 32 * sizeof(int), cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(v);
    cudaMemcpy(v, d, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    free(v);
}
