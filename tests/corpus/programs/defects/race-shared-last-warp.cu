// The last steps of a sum are left to one warp as was done before Volta: its lanes read what others may not have written.
// expect: race-shared line=14 array=s
// expect: race-shared line=15 array=s
// expect: race-shared line=16 array=s
// expect: race-shared line=17 array=s
// expect: race-shared line=18 array=s
// expect: status=1
#include <cstdio>
#include <cstdlib>

template <unsigned int block> __device__ void last_steps(int *s, unsigned int t)
{
    if (block >= 64) s[t] += s[t + 32];
    if (block >= 32) s[t] += s[t + 16];
    if (block >= 16) s[t] += s[t + 8];
    if (block >= 8) s[t] += s[t + 4];
    if (block >= 4) s[t] += s[t + 2];
    if (block >= 2) s[t] += s[t + 1];
}

template <unsigned int block> __global__ void sum_of(const int *in, int *out, unsigned int n)
{
    __shared__ int s[block + 32];
    unsigned int t = threadIdx.x, i = blockIdx.x * block * 2 + t;
    s[t] = (i < n ? in[i] : 0) + (i + block < n ? in[i + block] : 0);
    __syncthreads();
    if (block >= 256) { if (t < 128) s[t] += s[t + 128]; __syncthreads(); }
    if (block >= 128) { if (t < 64) s[t] += s[t + 64]; __syncthreads(); }
    if (t < 32) last_steps<block>(s, t);
    if (t == 0) atomicAdd(out, s[0]);
}

int main(int argc, char **argv)
{
    unsigned int n = 2000;
    if (argc > 1) n = (unsigned int)atoi(argv[1]);
    int *h = (int *)malloc(n * sizeof(int)), *in, *out, sum = 0;
    for (unsigned int i = 0; i < n; i++) h[i] = 1;
    cudaMalloc((void **)&in, n * sizeof(int));
    cudaMalloc((void **)&out, sizeof(int));
    cudaMemcpy(in, h, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(int));
    sum_of<256><<<(n + 511) / 512, 256>>>(in, out, n);
    cudaMemcpy(&sum, out, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", sum);
    cudaFree(in);
    cudaFree(out);
    free(h);
    return sum == (int)n ? 0 : 1;
}
