// Two steps of the seven-point heat equation by blocks in three dimensions that overlap by two along each axis.
#include <cstdio>
#include <vector>
constexpr int DX = 8, DY = 8, DZ = 6;

struct Extent { int x, y, z; };

#define at(e, i, j, k) (((k) * (e).y + (j)) * (e).x + (i))

__global__ void heat_twice(float *out, float *mid, const float *in, Extent e, float a, float b)
{
    __shared__ float p[DZ][DY][DX];
    __shared__ float q[DZ][DY][DX];
    const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    const int x = blockIdx.x * (DX - 2) + tx, y = blockIdx.y * (DY - 2) + ty, z = blockIdx.z * (DZ - 2) + tz;
    const bool there = x < e.x && y < e.y && z < e.z;
    const bool inner = x > 0 && y > 0 && z > 0 && x < e.x - 1 && y < e.y - 1 && z < e.z - 1;
    if (there) p[tz][ty][tx] = in[at(e, x, y, z)];
    __syncthreads();
    if (there) {
        float v = __opt__(in[at(e, x, y, z)]);
        if (inner)
            v = a * v + b * (__opt__(in[at(e, x - 1, y, z)]) + __opt__(in[at(e, x + 1, y, z)])
                           + __opt__(in[at(e, x, y - 1, z)]) + __opt__(in[at(e, x, y + 1, z)])
                           + __opt__(in[at(e, x, y, z - 1)]) + __opt__(in[at(e, x, y, z + 1)]));
        mid[at(e, x, y, z)] = v;
        q[tz][ty][tx] = v;
    }
    __syncthreads();
    const bool mine = tx > 0 && ty > 0 && tz > 0 && tx < DX - 1 && ty < DY - 1 && tz < DZ - 1;
    if (inner && mine)
        out[at(e, x, y, z)] = a * __opt__(mid[at(e, x, y, z)])
            + b * (__opt__(mid[at(e, x - 1, y, z)]) + __opt__(mid[at(e, x + 1, y, z)])
                 + __opt__(mid[at(e, x, y - 1, z)]) + __opt__(mid[at(e, x, y + 1, z)])
                 + __opt__(mid[at(e, x, y, z - 1)]) + __opt__(mid[at(e, x, y, z + 1)]));
    else if (there && !inner)
        out[at(e, x, y, z)] = __opt__(mid[at(e, x, y, z)]);
}

int main()
{
    Extent e = {20, 14, 11};
    size_t count = (size_t)e.x * e.y * e.z;
    std::vector<float> h(count);
    for (size_t i = 0; i < count; i++) h[i] = (float)(i % 13);
    float *in, *mid, *out;
    cudaMalloc(&in, count * sizeof(float));
    cudaMalloc(&mid, count * sizeof(float));
    cudaMalloc(&out, count * sizeof(float));
    cudaMemcpy(in, h.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(DX, DY, DZ);
    dim3 grid((e.x - 2 + DX - 3) / (DX - 2), (e.y - 2 + DY - 3) / (DY - 2), (e.z - 2 + DZ - 3) / (DZ - 2));
    heat_twice<<<grid, block>>>(out, mid, in, e, 0.4f, 0.1f);
    cudaMemcpy(h.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", h[count / 2]);
    cudaFree(in);
    cudaFree(mid);
    cudaFree(out);
    return 0;
}
