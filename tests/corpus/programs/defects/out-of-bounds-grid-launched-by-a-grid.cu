// Defect: the last of the grids that the parent launches gets a whole part where less is left.
// nvcc: -rdc=true
// expect: out-of-bounds line=8 array=d
// expect: status=1
__global__ void twice(int *x, int first, int count)
{
    int i = threadIdx.x;
    if (i < count) x[first + i] *= 2;
}
__global__ void parts(int *x, int n)
{
    int first = 32 * threadIdx.x;
    if (first < n) twice<<<1, 32>>>(x, first, 32);
}
int main()
{
    const int n = 100;
    int *d;
    cudaMalloc(&d, n * sizeof(int));
    cudaMemset(d, 0, n * sizeof(int));
    parts<<<1, 32>>>(d, n);
    cudaDeviceSynchronize();
    cudaFree(d);
    return 0;
}
