// The copy takes the number of elements for the number of bytes.
// expect: uninitialized-global line=7 array=dev
// expect: status=1
__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2.0f * x[i];
}
int main()
{
    const int n = 256;
    float *dev, *host = new float[n];
    for (int i = 0; i < n; ++i) host[i] = i;
    cudaMalloc((void **)&dev, n * sizeof(float));
    cudaMemcpy(dev, host, n, cudaMemcpyHostToDevice);
    scale<<<n / 64, 64>>>(dev, n);
    cudaMemcpy(host, dev, n * sizeof(float), cudaMemcpyDeviceToHost);
    delete[] host;
}
