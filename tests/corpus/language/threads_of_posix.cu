// Threads of the host that each launch on their own stream; random numbers of the host's library of the device.
#include <cstdio>
#include <curand.h>
#include <pthread.h>
#include <vector>
#include <string>
struct Work { float *x; int n; cudaStream_t stream; };
__global__ void halve(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 0.5f;
}
void *run(void *data)
{
    Work *w = (Work *)data;
    halve<<<(w->n + 63) / 64, 64, 0, w->stream>>>(w->x, w->n);
    cudaStreamSynchronize(w->stream);
    pthread_exit(NULL);
    return nullptr;
}
int main(int argc, char **argv)
{
    std::vector<std::string> words(argv + 1, argv + argc);
    const int threads = 3;
    pthread_t ids[threads];
    std::vector<Work> work(threads);
    curandGenerator_t random;
    curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT);
    curandSetPseudoRandomGeneratorSeed(random, 7ULL);
    for (int i = 0; i < threads; i++) {
        work[i].n = 100 + i + (int)words.size();
        cudaStreamCreate(&work[i].stream);
        cudaMalloc(&work[i].x, work[i].n * sizeof(float));
        curandGenerateUniform(random, work[i].x, work[i].n);
        if (pthread_create(&ids[i], NULL, run, &work[i])) return 1;
    }
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    curandDestroyGenerator(random);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
