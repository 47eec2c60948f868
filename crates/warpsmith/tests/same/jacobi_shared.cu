// same-as: references.cu:jacobi
#define BX 32
#define BY 8
__global__ void jacobi_shared(int nx, int ny, const float *in, float *out) {
    __shared__ float s[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    for (int j = threadIdx.y; j < BY + 2; j += BY)
        for (int i = threadIdx.x; i < BX + 2; i += BX) {
            int gx = blockIdx.x * BX + i - 1, gy = blockIdx.y * BY + j - 1;
            s[j][i] = gx >= 0 && gy >= 0 && gx < nx && gy < ny ? in[gy * nx + gx] : 0;
        }
    __syncthreads();
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    out[y * nx + x] = 0.25f * (s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i]);
}
void jacobi(int nx, int ny, const float *in, float *out) {
    dim3 block(BX, BY);
    dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
    jacobi_shared<<<grid, block>>>(nx, ny, in, out);
}
// fault: j < BY + 2; => j < BY + 1;
// fault: i < BX + 2; => i < BX + 1;
// fault: gx < nx && gy < ny ? => gx < nx - 1 && gy < ny ?
// fault: x >= nx - 1 => x >= nx
// fault: y < 1 || => y < 0 ||
// fault: 0.25f * => 0.2f *
// fault: s[j - 1][i] + s[j + 1][i] => s[j - 1][i] + s[j - 1][i]
// fault: in[gy * nx + gx] => in[gy * ny + gx]
// fault: __syncthreads();\n =>
// fault: i = threadIdx.x + 1, j => i = threadIdx.x + 2, j
