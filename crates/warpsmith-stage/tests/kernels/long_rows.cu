// Positions in two dimensions by threads in one: a row is longer than the small blocks that are profiled.
#define M 100
#define N 76
#define IDX(i, j) ((i) * N + (j))
#define THREADS 256
__global__ void relax(const float *T, float *Tnew)
{
    __shared__ float line[THREADS];
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < M * N) line[threadIdx.x] = T[tid];
    __syncthreads();
    int i = tid / N;
    int j = tid % N;
    if (i > 0 && i < M - 1 && j > 0 && j < N - 1)
        Tnew[IDX(i, j)] = 0.25f * (__opt__(T[IDX(i - 1, j)]) + __opt__(T[IDX(i + 1, j)]) + __opt__(T[IDX(i, j - 1)]) + __opt__(T[IDX(i, j + 1)]));
}
