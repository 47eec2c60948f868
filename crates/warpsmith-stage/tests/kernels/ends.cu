// A filter of rows, mirrored at their ends, and zero outside of the other array.
#define BX 64
#define BY 2
#define R 2
__global__ void ends(const float *in, const float *w, float *out, int nx, int ny) {
    __shared__ float t[BY][BX + 2 * R], u[BY][BX + 2 * R];
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    bool ok = i < nx && j < ny;
    if (ok) t[threadIdx.y][threadIdx.x + R] = in[j * nx + i];
    u[threadIdx.y][threadIdx.x + R] = ok ? w[j * nx + i] : 0.0f;
    __insert();
    __syncthreads();
    if (!ok) return;
    float s = 0;
    for (int k = -R; k <= R; k++) {
        int c = i + k;
        if (c < 0) c = -c;
        if (c >= nx) c = 2 * nx - 2 - c;
        s += __opt__(t[threadIdx.y][threadIdx.x + R + k], in[j * nx + c])
           * __opt__(u[threadIdx.y][threadIdx.x + R + k], i + k >= 0 && i + k < nx ? w[j * nx + i + k] : 0.0f);
    }
    out[j * nx + i] = s;
}
