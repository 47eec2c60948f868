// A stencil over rows in shared memory: the right halo is loaded from one element too far.
// expect: out-of-bounds line=15 array=in
// expect: status=1
#include <cstdio>
#include <cstdlib>
constexpr int R = 3, BLOCK = 64;

__global__ void smooth(const float *in, float *out, int n)
{
    __shared__ float tile[BLOCK + 2 * R];
    int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + R;
    tile[l] = g < n ? in[g] : 0.0f;
    if (threadIdx.x < R) {
        tile[l - R] = g >= R ? in[g - R] : 0.0f;
        tile[l + BLOCK] = g + BLOCK <= n ? in[g + BLOCK] : 0.0f;
    }
    __syncthreads();
    if (g >= n) return;
    float sum = 0.0f;
    for (int k = -R; k <= R; k++) sum += tile[l + k];
    out[g] = sum / (2 * R + 1);
}

int main()
{
    const int n = 320;
    float *h = (float *)malloc(n * sizeof(float)), *in, *out;
    for (int i = 0; i < n; i++) h[i] = (float)i;
    cudaMalloc((void **)&in, n * sizeof(float));
    cudaMalloc((void **)&out, n * sizeof(float));
    cudaMemcpy(in, h, n * sizeof(float), cudaMemcpyHostToDevice);
    smooth<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(in, out, n);
    cudaMemcpy(h, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f %f\n", h[R], h[n / 2]);
    cudaFree(in);
    cudaFree(out);
    free(h);
    return 0;
}
