// same-as: references.cu:iterate
// Threads go on in strides of the grid over all points.
__global__ void iterate_rows(int w, int h, int *out) {
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < w * h; p += gridDim.x * blockDim.x) {
        int x = p % w, y = p / w;
        float cr = -2.0f + 3.0f * x / w, ci = -1.0f + 2.0f * y / h, zr = 0, zi = 0, rr = 0, ii = 0;
        int i = 0;
        for (; i < 20 && rr + ii <= 4.0f; i++) {
            zi = 2.0f * zr * zi + ci;
            zr = rr - ii + cr;
            rr = zr * zr;
            ii = zi * zi;
        }
        out[p] = i;
    }
}
void iterate(int w, int h, int *out) { iterate_rows<<<4, 32>>>(w, h, out); }
// right: <<<4, 32>>> => <<<2, 96>>>
// right: i < 20 && rr + ii <= 4.0f => i < 20 && !(rr + ii > 4.0f)
// fault: i < 20 => i < 19
// fault: <= 4.0f => <= 2.0f
// fault: p % w, y = p / w => p / h, y = p % h
// fault: y = p / w => y = p / h
// fault: zi = 2.0f * zr * zi + ci;\n            zr = rr - ii + cr; => zr = rr - ii + cr;\n            zi = 2.0f * zr * zi + ci;
// fault: p < w * h => p < w * h - 1
// fault: 3.0f * x / w => 3.0f * (x / w)
// fault: 2.0f * y / h => 2.0f * y / w
// fault: out[p] = i => out[y * h + x] = i
// fault: ii = zi * zi; => ii = zi;
// fault: p += gridDim.x * blockDim.x => p += gridDim.x * blockDim.x + 1
