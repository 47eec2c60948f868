// same-as: references.cu:diffuse
// A column of points a thread; the plane in shared memory, above and below in registers.
#define B 8
__global__ void diffuse_planes(int nx, int ny, int nz, const float *in, float *out) {
    __shared__ float plane[B + 2][B + 2];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < nx && y < ny;
    bool edge = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
    int step = nx * ny, at = y * nx + x;
    float below = 0, here = inside ? in[at] : 0, above = 0;
    for (int z = 0; z < nz; z++, at += step) {
        above = inside && z + 1 < nz ? in[at + step] : 0;
        plane[ty][tx] = here;
        if (inside && threadIdx.x == 0 && x > 0) plane[ty][0] = in[at - 1];
        if (inside && threadIdx.x == B - 1 && x + 1 < nx) plane[ty][B + 1] = in[at + 1];
        if (inside && threadIdx.y == 0 && y > 0) plane[0][tx] = in[at - nx];
        if (inside && threadIdx.y == B - 1 && y + 1 < ny) plane[B + 1][tx] = in[at + nx];
        __syncthreads();
        if (inside) {
            if (edge || z == 0 || z == nz - 1) {
                out[at] = here;
            } else {
                float around = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above;
                out[at] = here + 0.125f * (around - 6.0f * here);
            }
        }
        __syncthreads();
        below = here;
        here = above;
    }
}
void diffuse(int nx, int ny, int nz, const float *in, float *out) {
    diffuse_planes<<<dim3((nx + B - 1) / B, (ny + B - 1) / B), dim3(B, B)>>>(nx, ny, nz, in, out);
}
// right: #define B 8 => #define B 16
// right: plane[ty + 1][tx] + below + above => plane[ty + 1][tx] + (below + above)
// fault: z + 1 < nz ? => z + 2 < nz ?
// fault: threadIdx.x == B - 1 && x + 1 < nx => threadIdx.x == B && x + 1 < nx
// fault: plane[ty][B + 1] = in[at + 1] => plane[ty][B + 1] = in[at]
// fault: edge || z == 0 || z == nz - 1 => edge || z == 0
// fault: x == nx - 1 || y == ny - 1; => x == nx - 1 || y == nx - 1;
// fault: below = here; => below = above;
// fault: plane[0][tx] = in[at - nx] => plane[0][tx] = in[at - ny]
// fault: __syncthreads();\n        below => below
// fault: 6.0f * here => 6.0f * above
// fault: step = nx * ny => step = nx * nz
// fault: __syncthreads();\n        if => if
// fault: threadIdx.y == 0 && y > 0 => threadIdx.y == 1 && y > 0
