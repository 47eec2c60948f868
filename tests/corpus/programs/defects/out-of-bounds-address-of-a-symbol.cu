// Defect: the table has 32 elements, the kernel reads one more; the host fills it by its address.
// expect: out-of-bounds line=8 array=table
// expect: status=1
__device__ float table[32];
__global__ void look(float *out)
{
    int i = threadIdx.x;
    out[i] = table[i] - table[i + 1];
}
int main()
{
    float h[32], *at, *out;
    for (int i = 0; i < 32; i++)
        h[i] = i;
    cudaGetSymbolAddress((void **)&at, table);
    cudaMemcpy(at, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMalloc(&out, sizeof h);
    look<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
