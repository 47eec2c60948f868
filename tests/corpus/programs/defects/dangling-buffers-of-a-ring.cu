// Defect: the ring of three buffers is emptied in the wrong order: the one that is still read goes first.
// expect: dangling line=8
// expect: status=1
__global__ void smooth(const float *before, const float *now, float *next, int n)
{
    int i = threadIdx.x;
    if (i > 0 && i < n - 1)
        next[i] = 0.5f * before[i] + 0.25f * (now[i - 1] + now[i + 1]);
}
int main()
{
    const int n = 64;
    float *ring[3];
    for (int k = 0; k < 3; k++) {
        cudaMalloc(&ring[k], n * sizeof(float));
        cudaMemset(ring[k], 0, n * sizeof(float));
    }
    for (int step = 0; step < 4; step++) {
        smooth<<<1, n>>>(ring[step % 3], ring[(step + 1) % 3], ring[(step + 2) % 3], n);
        if (step == 2) cudaFree(ring[0]);
    }
    return 0;
}
