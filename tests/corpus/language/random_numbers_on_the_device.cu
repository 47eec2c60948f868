// A state of a generator for each thread, kept between launches; the program sets it up.
#include <cstdio>
#include <curand_kernel.h>

__global__ void setup(curandState *states, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);
}

__global__ void estimate(curandState *states, unsigned int *inside, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState local = states[i];
    unsigned int hits = 0;
    for (int k = 0; k < rounds; k++) {
        float x = curand_uniform(&local), y = curand_uniform(&local);
        hits += x * x + y * y <= 1.0f;
    }
    float g = curand_normal(&local);
    __assert(g == g);
    states[i] = local;
    atomicAdd(inside, hits);
}

int main()
{
    curandState *states;
    unsigned int *inside, host = 0;
    cudaMalloc((void **)&states, 128 * sizeof(curandState));
    cudaMalloc(&inside, sizeof(unsigned int));
    cudaMemcpy(inside, &host, sizeof(host), cudaMemcpyHostToDevice);
    setup<<<2, 64>>>(states, 1234ULL);
    estimate<<<2, 64>>>(states, inside, 20);
    cudaMemcpy(&host, inside, sizeof(host), cudaMemcpyDeviceToHost);
    printf("pi is about %f\n", 4.0 * host / (128 * 20));
    cudaFree(states);
    cudaFree(inside);
}
