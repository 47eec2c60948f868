// A window whose rows and columns are kept inside, by statements and by a function.
#define BX 16
#define BY 16
#define R 1
__global__ void edges(const int *in, int *out, int nx, int ny) {
    __shared__ int t[BY + 2 * R][BX + 2 * R];
    int i = blockIdx.x * BX + threadIdx.x, j = blockIdx.y * BY + threadIdx.y;
    if (i < nx && j < ny) t[threadIdx.y + R][threadIdx.x + R] = in[j * nx + i];
    __insert();
    __syncthreads();
    if (i >= nx || j >= ny) return;
    int s = 0;
    for (int dy = -R; dy <= R; dy++) {
        int y = j + dy;
        if (y < 0) y = 0;
        else if (y >= ny) y = ny - 1;
        for (int dx = -R; dx <= R; dx++) {
            int x = min(max(i + dx, 0), nx - 1);
            s += __opt__(t[threadIdx.y + R + dy][threadIdx.x + R + dx], in[y * nx + x]);
        }
    }
    out[j * nx + i] = s;
}
