// same-as: references.c:transpose
// warpsmith: grid=4,3 block=16,4 arg rows=45 arg cols=61
__global__ void transpose_tiled(int rows, int cols, const float *in, float *out) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
        if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
// fault: x < cols && y + j < rows => x < cols && y + j < rows - 1
// fault: x < rows && y + j < cols) out => x < rows && y + j <= cols) out
// fault: tile[threadIdx.x][threadIdx.y + j]; => tile[threadIdx.y + j][threadIdx.x];
// fault: out[(y + j) * rows + x] => out[(y + j) * cols + x]
// fault: x = blockIdx.y * 16 + threadIdx.x;\n    y => x = blockIdx.x * 16 + threadIdx.x;\n    y
// fault: __syncthreads();\n =>
// fault: j < 16; j += 4)\n        if (x < rows => j < 12; j += 4)\n        if (x < rows
