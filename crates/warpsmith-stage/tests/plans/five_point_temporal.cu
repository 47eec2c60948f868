// Two steps of the five-point stencil: blocks overlap by two, and the array between the steps is the global `mid`.
#define DX 16
#define DY 16
__device__ int clamp(int v, int low, int high) { return min(max(v, low), high); }
__global__ void two_steps(const float *in, float *mid, float *out, int nx, int ny) {
    __shared__ float a[DX * DY];
    __shared__ float b[DX * DY];
    int tx = threadIdx.x, ty = threadIdx.y;
    int s = tx + ty * DX;
    int i = clamp((int)(blockIdx.x * (DX - 2)) + tx - 1, 0, nx - 1);
    int j = clamp((int)(blockIdx.y * (DY - 2)) + ty - 1, 0, ny - 1);
    int c = i + nx * j;
    a[s] = in[c];
    __syncthreads();
    float v = __opt__(in[c]) + __opt__(in[i == 0 ? c : c - 1]) + __opt__(in[i == nx - 1 ? c : c + 1])
            + __opt__(in[j == 0 ? c : c - nx]) + __opt__(in[j == ny - 1 ? c : c + nx]);
    mid[c] = v;
    b[s] = v;
    __syncthreads();
    int i2 = min((int)(blockIdx.x * (DX - 2)) + min(tx, DX - 3), nx - 1);
    int j2 = min((int)(blockIdx.y * (DY - 2)) + min(ty, DY - 3), ny - 1);
    int c2 = i2 + nx * j2;
    out[c2] = __opt__(mid[c2]) + __opt__(mid[i2 == 0 ? c2 : c2 - 1]) + __opt__(mid[i2 == nx - 1 ? c2 : c2 + 1])
            + __opt__(mid[j2 == 0 ? c2 : c2 - nx]) + __opt__(mid[j2 == ny - 1 ? c2 : c2 + nx]);
}
