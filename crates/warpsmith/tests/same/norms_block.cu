// same-as: references.cu:norms
__global__ void norms_block(int rows, int cols, const float *x, float *y) {
    __shared__ float part[64];
    const float *row = x + blockIdx.x * cols;
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += 64) sum += row[c] * row[c];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    float scale = rsqrtf(part[0] / cols + 1e-5f);
    for (int c = threadIdx.x; c < cols; c += 64) y[blockIdx.x * cols + c] = row[c] * scale;
}
void norms(int rows, int cols, const float *x, float *y) { norms_block<<<rows, 64>>>(rows, cols, x, y); }
// fault: int d = 32; => int d = 16;
// fault: part[0] / cols => part[0] / rows
// fault: 1e-5f => 1e-2f
// fault: c += 64) sum => c += 65) sum
// fault: c < cols; c += 64) y => c < cols - 1; c += 64) y
// fault: row[c] * scale; => row[c] / scale;
// fault:         __syncthreads();\n    }\n =>     }\n
