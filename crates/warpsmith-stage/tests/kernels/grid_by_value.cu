// A structure that is passed by value holds sizes and arrays.
struct Grid {
    const float *__restrict__ data;
    float *__restrict__ out;
    int nx, ny;
    float h;
};
#define BS 16
__global__ void laplacian(Grid g)
{
    __shared__ float t[BS][BS];
    int i = blockIdx.x * BS + threadIdx.x;
    int j = blockIdx.y * BS + threadIdx.y;
    int id = i + j * g.nx;
    if (i < g.nx && j < g.ny) t[threadIdx.y][threadIdx.x] = g.data[id];
    __syncthreads();
    if (i < 1 || j < 1 || i > g.nx - 2 || j > g.ny - 2) return;
    g.out[id] = (__opt__(g.data[id - 1]) + __opt__(g.data[id + 1]) + __opt__(g.data[id - g.nx]) + __opt__(g.data[id + g.nx]) - 4.f * __opt__(g.data[id])) / (g.h * g.h);
}
