// Defect: a state of MTGP32 is for blocks of 256 threads at most.
// expect: assert-failed line=8
// expect: status=1
#include <curand_kernel.h>

__global__ void numbers(curandStateMtgp32 *state, float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = curand_uniform(&state[blockIdx.x]);
}

int main()
{
    curandStateMtgp32 *states;
    float *x;
    cudaMalloc(&states, 2 * sizeof(curandStateMtgp32));
    cudaMemset(states, 0, 2 * sizeof(curandStateMtgp32));
    cudaMalloc(&x, 1024 * sizeof(float));
    numbers<<<2, 512>>>(states, x);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(states);
    return 0;
}
