// The grid is n / 256 and the rest is left to "the last block", which forgets the guard: sizes of no block go beyond.
// expect: out-of-bounds line=12 array=d_length
// expect: out-of-bounds line=13 array=d_points
// expect: status=1
#include <cstdio>
#include <cstdlib>
#include <cmath>

__global__ void normalise(float3 *p, const float *length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 1.0f / length[i];
    p[i] = make_float3(p[i].x * s, p[i].y * s, p[i].z * s);
}

int main()
{
    const int n = 1000;
    float3 *points = (float3 *)malloc(n * sizeof(float3));
    float *length = (float *)malloc(n * sizeof(float));
    for (int i = 0; i < n; i++) {
        points[i] = { cosf(i), sinf(i), 1.0f };
        length[i] = sqrtf(2.0f);
    }
    float3 *d_points;
    float *d_length;
    cudaMalloc(&d_points, n * sizeof(float3));
    cudaMalloc(&d_length, n * sizeof(float));
    cudaMemcpy(d_points, points, n * sizeof(float3), cudaMemcpyHostToDevice);
    cudaMemcpy(d_length, length, n * sizeof(float), cudaMemcpyHostToDevice);
    int threads = 256, blocks = n / threads + 1;
    normalise<<<blocks, threads>>>(d_points, d_length, n);
    cudaMemcpy(points, d_points, n * sizeof(float3), cudaMemcpyDeviceToHost);
    printf("%f\n", points[n - 1].z);
    cudaFree(d_points);
    cudaFree(d_length);
    free(points);
    free(length);
    return 0;
}
