// Two explicit steps of diffusion along a rod with cold ends: one thread a cell, blocks overlap by a cell on each side.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 128
#endif
typedef double real;

__global__ void rod(real *next, real *between, const real *now, real k, int n)
{
    __shared__ real s0[THREADS];
    __shared__ real s1[THREADS];
    int t = threadIdx.x;
    int x = (int)blockIdx.x * (THREADS - 2) + t - 1;
    s0[t] = x >= 0 && x < n ? now[x] : 0.0;
    __syncthreads();
    if (x >= 0 && x < n) {
        real left = x > 0 ? __opt__(now[x - 1]) : 0.0;
        real right = x + 1 < n ? __opt__(now[x + 1]) : 0.0;
        real here = __opt__(now[x]);
        real v = here + k * (left - 2.0 * here + right);
        between[x] = v; s1[t] = v;
    }
    __syncthreads();
    if (t > 0 && t < THREADS - 1 && x < n) {
        real left = x > 0 ? __opt__(between[x - 1]) : 0.0;
        real right = x + 1 < n ? __opt__(between[x + 1]) : 0.0;
        real here = __opt__(between[x]);
        next[x] = here + k * (left - 2.0 * here + right);
    }
}

int main(void)
{
    const int n = 1000;
    real *h = (real *)malloc(n * sizeof(real));
    for (int i = 0; i < n; i++) h[i] = i % 17 * 0.25;
    real *now, *between, *next;
    cudaMalloc((void **)&now, n * sizeof(real));
    cudaMalloc((void **)&between, n * sizeof(real));
    cudaMalloc((void **)&next, n * sizeof(real));
    cudaMemcpy(now, h, n * sizeof(real), cudaMemcpyHostToDevice);
    for (int step = 0; step < 10; step += 2) {
        rod<<<(n + THREADS - 3) / (THREADS - 2), THREADS>>>(next, between, now, 0.2, n);
        real *swap = now;
        now = next;
        next = swap;
    }
    cudaMemcpy(h, now, n * sizeof(real), cudaMemcpyDeviceToHost);
    real sum = 0;
    for (int i = 0; i < n; i++) sum += h[i];
    printf("%g\n", sum);
    cudaFree(now);
    cudaFree(between);
    cudaFree(next);
    free(h);
    return 0;
}
