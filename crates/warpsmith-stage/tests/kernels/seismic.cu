// A stencil of 25 points, plane by plane: a halo of four along two axes.
#define R 4
#define BDX 32
#define BDY 16
__constant__ float c_coef[R + 1];
__global__ void fd3d(float* next, const float* curr, const float* vsq, int nx, int ny, int nz) {
    __shared__ float s[BDY + 2 * R][BDX + 2 * R];
    int ix = blockIdx.x * BDX + threadIdx.x + R;
    int iy = blockIdx.y * BDY + threadIdx.y + R;
    int tx = threadIdx.x + R, ty = threadIdx.y + R;
    int stride = nx * ny;
    bool ok = ix < nx - R && iy < ny - R;
    int idx = iy * nx + ix + R * stride;
    for (int iz = R; iz < nz - R; iz++) {
        if (ok) {
            s[ty][tx] = curr[idx];
            __insert();
        }
        __syncthreads();
        if (ok) {
            float div = c_coef[0] * s[ty][tx];
            div += c_coef[1] * (__opt__(s[ty][tx - 1], curr[idx - 1]) + __opt__(s[ty][tx + 1], curr[idx + 1]) + __opt__(s[ty - 1][tx], curr[idx - nx]) + __opt__(s[ty + 1][tx], curr[idx + nx]) + curr[idx - stride] + curr[idx + stride]);
            div += c_coef[2] * (__opt__(s[ty][tx - 2], curr[idx - 2]) + __opt__(s[ty][tx + 2], curr[idx + 2]) + __opt__(s[ty - 2][tx], curr[idx - 2 * nx]) + __opt__(s[ty + 2][tx], curr[idx + 2 * nx]) + curr[idx - 2 * stride] + curr[idx + 2 * stride]);
            div += c_coef[3] * (__opt__(s[ty][tx - 3], curr[idx - 3]) + __opt__(s[ty][tx + 3], curr[idx + 3]) + __opt__(s[ty - 3][tx], curr[idx - 3 * nx]) + __opt__(s[ty + 3][tx], curr[idx + 3 * nx]) + curr[idx - 3 * stride] + curr[idx + 3 * stride]);
            div += c_coef[4] * (__opt__(s[ty][tx - 4], curr[idx - 4]) + __opt__(s[ty][tx + 4], curr[idx + 4]) + __opt__(s[ty - 4][tx], curr[idx - 4 * nx]) + __opt__(s[ty + 4][tx], curr[idx + 4 * nx]) + curr[idx - 4 * stride] + curr[idx + 4 * stride]);
            next[idx] = 2.f * s[ty][tx] - next[idx] + vsq[idx] * div;
        }
        __syncthreads();
        idx += stride;
    }
}
