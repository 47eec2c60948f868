// same-as: references.c:gemm
// Blocks share out the sum, too; a second kernel adds their parts.
__global__ void parts(int n, int m, int k, int slices, const float *a, const float *b, float *part) {
    __shared__ float as[8][9], bs[8][8];
    int i = blockIdx.y * 8 + threadIdx.y, j = blockIdx.x * 8 + threadIdx.x;
    int each = (k + slices - 1) / slices, from = blockIdx.z * each, to = min(from + each, k);
    float sum = 0;
    for (int p = from; p < to; p += 8) {
        int q = p + threadIdx.x, r = p + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = i < n && q < to ? a[i * k + q] : 0;
        bs[threadIdx.y][threadIdx.x] = r < to && j < m ? b[r * m + j] : 0;
        __syncthreads();
        for (int s = 0; s < 8; s++) sum += as[threadIdx.y][s] * bs[s][threadIdx.x];
        __syncthreads();
    }
    if (i < n && j < m) part[(blockIdx.z * n + i) * m + j] = sum;
}
__global__ void add(int count, int slices, const float *part, float *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int s = 0; s < slices; s++) sum += part[s * count + i];
    c[i] = sum;
}
void gemm_split(int n, int m, int k, const float *a, const float *b, float *c) {
    const int slices = 3;
    float *part;
    cudaMalloc(&part, slices * n * m * sizeof(float));
    dim3 grid((m + 7) / 8, (n + 7) / 8, slices);
    parts<<<grid, dim3(8, 8)>>>(n, m, k, slices, a, b, part);
    add<<<(n * m + 127) / 128, 128>>>(n * m, slices, part, c);
    cudaFree(part);
}
// fault: min(from + each, k) => from + each
// fault: q < to ? => q < to - 1 ?
// fault: (k + slices - 1) / slices => k / slices
// fault: s < slices; s++ => s < slices - 1; s++
// fault: (blockIdx.z * n + i) * m + j] = sum => i * m + j] = sum
// fault: p += 8) { => p += 9) {
// fault: (n * m + 127) / 128 => (n * m) / 128
// fault: sum += part[s * count + i] => sum = part[s * count + i]
// fault:         __syncthreads();\n        for =>         for
// right: const int slices = 3; => const int slices = 5;
// right: as[8][9] => as[8][8]
