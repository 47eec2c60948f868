// Monte Carlo pi with a 64-bit LCG a thread and a 64-bit atomic counter: unsigned wrap-around, shifts, a struct generator.
#include <stdio.h>

struct Lcg {
    unsigned long long state;
    __device__ Lcg(unsigned long long seed) : state(seed * 2862933555777941757ULL + 3037000493ULL) {}
    __device__ float next()
    {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (float)(state >> 40) * (1.0f / 16777216.0f);
    }
};

// warpsmith: grid=2 block=64 arg hits=ulong[1] arg samples=20 arg seed=42
// warpsmith: grid=3 block=33 arg hits=ulong[1] arg samples=7 arg seed=1
__global__ void pi_kernel(unsigned long long *hits, int samples, unsigned long long seed)
{
    Lcg rng(seed + blockIdx.x * blockDim.x + threadIdx.x);
    unsigned long long inside = 0;
    for (int i = 0; i < samples; i++) {
        float x = rng.next();
        float y = rng.next();
        if (x * x + y * y <= 1.0f) inside++;
    }
    atomicAdd(hits, inside);
}

int main(void)
{
    unsigned long long *d, h = 0;
    cudaMalloc((void **)&d, sizeof(h));
    cudaMemset(d, 0, sizeof(h));
    pi_kernel<<<64, 128>>>(d, 1000, 2024ULL);
    cudaMemcpy(&h, d, sizeof(h), cudaMemcpyDeviceToHost);
    printf("pi ~ %f\n", 4.0 * (double)h / (64.0 * 128.0 * 1000.0));
    cudaFree(d);
    return 0;
}
