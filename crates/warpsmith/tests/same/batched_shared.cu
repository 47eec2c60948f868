// same-as: references.c:batched
// A block a matrix of up to 16 x 16, several products a block after each other; larger ones by plain loops.
__global__ void batched_shared(int batch, int n, const float *a, const float *b, float *c) {
    __shared__ float x[16][16], y[16][17];
    int i = threadIdx.y, j = threadIdx.x;
    for (int g = blockIdx.x; g < batch; g += gridDim.x) {
        const float *ag = a + g * n * n, *bg = b + g * n * n;
        float *cg = c + g * n * n;
        if (n <= 16) {
            if (i < n && j < n) {
                x[i][j] = ag[i * n + j];
                y[i][j] = bg[i * n + j];
            }
            __syncthreads();
            if (i < n && j < n) {
                float sum = 0;
                for (int p = 0; p < n; p++) sum += x[i][p] * y[p][j];
                cg[i * n + j] = sum;
            }
            __syncthreads();
        } else {
            for (int r = i; r < n; r += 16)
                for (int s = j; s < n; s += 16) {
                    float sum = 0;
                    for (int p = 0; p < n; p++) sum += ag[r * n + p] * bg[p * n + s];
                    cg[r * n + s] = sum;
                }
        }
    }
}
// warpsmith: kernel=batched_shared grid=3 block=16,16 arg batch=10 arg n=12
// right: for (int p = 0; p < n; p++) sum += x[i][p] => for (int p = n - 1; p >= 0; p--) sum += x[i][p]
// right: y[16][17] => y[16][16]
// fault: n <= 16 => n <= 17
// fault: __syncthreads();\n        } else => } else
// fault: __syncthreads();\n            if (i => if (i
// fault: s < n; s += 16 => s < n - 1; s += 16
// fault: b + g * n * n => b + (g + 1) * n
// fault: g += gridDim.x => g += gridDim.x + 1
// fault: x[i][p] * y[p][j] => x[p][i] * y[p][j]
// fault: x[i][p] * y[p][j] => x[i][p] * y[j][p]
// fault: cg[r * n + s] = sum => cg[s * n + r] = sum
// fault: r < n; r += 16 => r < min(n, 32); r += 16
