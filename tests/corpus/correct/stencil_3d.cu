// Seven-point 3-D stencil marching in z with registers for the planes above and below: two barriers a plane.
#define TX 8
#define TY 8

// warpsmith: grid=2,2 block=8,8 arg nx=16 arg ny=16 arg nz=8 arg in=float[8][16][16]=random arg out=float[8][16][16]
// warpsmith: grid=2,2 block=8,8 arg nx=13 arg ny=11 arg nz=5 arg in=float[5][11][13]=random arg out=float[5][11][13]
__global__ void stencil7(const float *in, float *out, int nx, int ny, int nz)
{
    __shared__ float plane[TY + 2][TX + 2];
    const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    const int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
    const bool inside = x < nx && y < ny;
    const int slab = nx * ny;
    const int at = y * nx + x;

    float below = 0.f, here = 0.f;
    float above = inside ? in[at] : 0.f;
    for (int z = 0; z < nz; ++z) {
        below = here;
        here = above;
        above = (inside && z + 1 < nz) ? in[(z + 1) * slab + at] : 0.f;

        const float *p = in + z * slab;
        plane[sy][sx] = here;
        if (threadIdx.x == 0) plane[sy][0] = (x > 0 && y < ny) ? p[at - 1] : 0.f;
        if (threadIdx.x == TX - 1) plane[sy][TX + 1] = (x + 1 < nx && y < ny) ? p[at + 1] : 0.f;
        if (threadIdx.y == 0) plane[0][sx] = (y > 0 && x < nx) ? p[at - nx] : 0.f;
        if (threadIdx.y == TY - 1) plane[TY + 1][sx] = (y + 1 < ny && x < nx) ? p[at + nx] : 0.f;
        __syncthreads();

        if (inside)
            out[z * slab + at] = 0.5f * here + (below + above + plane[sy][sx - 1] + plane[sy][sx + 1] +
                                                plane[sy - 1][sx] + plane[sy + 1][sx]) / 12.0f;
        __syncthreads();
    }
}
