// Defect: the locks of rows are taken with block scope.
// expect: atomic-scope line=17 array=locks
// expect: race-global line=19 array=c
// expect: status=1
#define N 8
// warpsmith: grid=4 block=8 arg a=float[64] arg b=float[64] arg c=float[64]=zeros arg locks=int[8]=zeros
__global__ void product(const float *a, const float *b, float *c, int *locks)
{
    int row = threadIdx.x;
    float part[N];
    for (int j = 0; j < N; j++) {
        part[j] = 0.0f;
        for (int k = blockIdx.x * 2; k < blockIdx.x * 2 + 2; k++) part[j] += a[row * N + k] * b[k * N + j];
    }
    bool done = false;
    while (!done) {
        if (atomicCAS_block(&locks[row], 0, 1) == 0) {
            __threadfence();
            for (int j = 0; j < N; j++) c[row * N + j] += part[j];
            __threadfence();
            atomicExch(&locks[row], 0);
            done = true;
        }
    }
}
