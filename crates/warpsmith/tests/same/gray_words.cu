// same-as: references.cu:gray
// Four pixels a thread, one store of 32 bits.
__device__ unsigned one(uchar4 p) { return (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8; }
__global__ void gray_words(int n, const uchar4 *rgba, unsigned char *out) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n + 3) / 4; i += gridDim.x * blockDim.x) {
        int p = 4 * i;
        if (p + 4 <= n) {
            unsigned word = one(rgba[p]) | one(rgba[p + 1]) << 8 | one(rgba[p + 2]) << 16 | one(rgba[p + 3]) << 24;
            *(unsigned *)(out + p) = word;
        } else {
            for (; p < n; p++) out[p] = one(rgba[p]);
        }
    }
}
void gray(int n, const uchar4 *rgba, unsigned char *out) { gray_words<<<2, 64>>>(n, rgba, out); }
// right: <<<2, 64>>> => <<<3, 32>>>
// right: p + 4 <= n => p + 3 < n
// fault: (n + 3) / 4; i => n / 4; i
// fault: p + 4 <= n => p + 3 <= n
// fault: one(rgba[p + 1]) << 8 => one(rgba[p + 1]) << 16
// fault: 29 * p.z => 29 * p.w
// fault: + 128) >> 8 => ) >> 8
// fault: 77 * p.x => 76 * p.x
// fault: one(rgba[p + 3]) << 24 => one(rgba[p + 3]) << 25
// fault: int p = 4 * i; => int p = 4 * (i % 64);
// fault: i += gridDim.x * blockDim.x => i += n
// fault: unsigned one(uchar4 p) => signed char one(uchar4 p)
