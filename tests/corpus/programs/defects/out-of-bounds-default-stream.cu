// Defect: a launch behind a default argument that is a null pointer writes one element too many.
// expect: out-of-bounds line=7 array=d
// expect: status=1

__global__ void fill(int *x, int n)
{
    if (threadIdx.x < n) x[threadIdx.x] = n;
}

struct Runner {
    void run(int *x, int n, cudaStream_t stream = nullptr) { fill<<<1, 64, 0, stream>>>(x, n); }
};

int main()
{
    int *d;
    cudaMalloc(&d, 32 * sizeof(int));
    Runner runner;
    runner.run(d, 33);
    cudaDeviceSynchronize();
    cudaFree(d);
    return 0;
}
