// same-as: references.cu:rotate --map in=z --map out=w
// Elements as pairs of reals, four threads' worth of work in one.
__global__ void rotate_reals(int n, const float *in, float re, float im, float *out) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    for (int i = first; i < first + 2 && i < n; i++) {
        float x = in[2 * i], y = in[2 * i + 1];
        out[2 * i] = x * re - y * im;
        out[2 * i + 1] = x * im + y * re;
    }
}
void rotate(int n, const float *in, float re, float im, float *out) { rotate_reals<<<(n + 127) / 128, 64>>>(n, in, re, im, out); }
// fault: x * re - y * im => x * re + y * im
// fault: i < first + 2 && i < n => i < first + 1 && i < n
// fault: y = in[2 * i + 1] => y = in[2 * i]
// fault: out[2 * i + 1] = x * im => out[2 * i + 1] = x * re
// fault: && i < n; => && i <= n;
