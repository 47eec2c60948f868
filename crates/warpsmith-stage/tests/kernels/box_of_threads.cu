// Seven points in blocks of three axes, with sizes in a structure and subscripts in a function.
struct Extent { int nx, ny, nz; };
__device__ __forceinline__ int lin(const Extent& e, int x, int y, int z) { return (z * e.ny + y) * e.nx + x; }
#define TX 8
#define TY 8
#define TZ 4
__global__ void diffuse(const float* __restrict__ u, float* __restrict__ v, Extent e, float3 k) {
    __shared__ float t[TZ + 2][TY + 2][TX + 2];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int lx = threadIdx.x + 1, ly = threadIdx.y + 1, lz = threadIdx.z + 1;
    bool in = x > 0 && y > 0 && z > 0 && x < e.nx - 1 && y < e.ny - 1 && z < e.nz - 1;
    if (in) {
        t[lz][ly][lx] = u[lin(e, x, y, z)];
        __insert();
    }
    __syncthreads();
    if (!in) return;
    float c = t[lz][ly][lx];
    v[lin(e, x, y, z)] = c
        + k.x * (__opt__(t[lz][ly][lx - 1], u[lin(e, x - 1, y, z)]) - 2.f * c + __opt__(t[lz][ly][lx + 1], u[lin(e, x + 1, y, z)]))
        + k.y * (__opt__(t[lz][ly - 1][lx], u[lin(e, x, y - 1, z)]) - 2.f * c + __opt__(t[lz][ly + 1][lx], u[lin(e, x, y + 1, z)]))
        + k.z * (__opt__(t[lz - 1][ly][lx], u[lin(e, x, y, z - 1)]) - 2.f * c + __opt__(t[lz + 1][ly][lx], u[lin(e, x, y, z + 1)]));
}
