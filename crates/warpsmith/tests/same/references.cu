// References that are kernels: one thread an element.

__global__ void jacobi(int nx, int ny, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    out[y * nx + x] = 0.25f * (in[y * nx + x - 1] + in[y * nx + x + 1] + in[(y - 1) * nx + x] + in[(y + 1) * nx + x]);
}

__global__ void triad(int n, const float *b, const float *c, float s, float *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + s * c[i];
}

__global__ void rotate(int n, const float2 *z, float re, float im, float2 *w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] = make_float2(z[i].x * re - z[i].y * im, z[i].x * im + z[i].y * re);
}

__global__ void norms(int rows, int cols, const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += x[r * cols + c] * x[r * cols + c];
    float scale = rsqrtf(sum / cols + 1e-5f);
    for (int c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * scale;
}

__global__ void heat(int nx, int ny, int nz, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    for (int z = 0; z < nz; z++) {
        int at = (z * ny + y) * nx + x;
        float below = z > 0 ? in[at - nx * ny] : in[at];
        float above = z < nz - 1 ? in[at + nx * ny] : in[at];
        out[at] = in[at] + 0.1f * (below + above - 2.0f * in[at]);
    }
}

__global__ void embed(int tokens, int width, const int *ids, const float *table, float *out) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int t = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < width && t < tokens) out[t * width + c] = table[ids[t] * width + c];
}

#include <cuda_fp16.h>
__global__ void half_axpy(int n, float a, const __half *x, __half *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2half(a * __half2float(x[i]) + __half2float(y[i]));
}

__global__ void adam(int n, const float *g, float *m, float *v, float *p, float rate, float b1, float b2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float mean = b1 * m[i] + (1.0f - b1) * g[i];
    float square = b2 * v[i] + (1.0f - b2) * g[i] * g[i];
    m[i] = mean;
    v[i] = square;
    p[i] -= rate * mean / (sqrtf(fabsf(square)) + 1e-8f);
}

__global__ void diffuse(int nx, int ny, int nz, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    int at = (z * ny + y) * nx + x;
    if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
        out[at] = in[at];
        return;
    }
    float around = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - nx * ny] + in[at + nx * ny];
    out[at] = in[at] + 0.125f * (around - 6.0f * in[at]);
}

__global__ void gray(int n, const uchar4 *rgba, unsigned char *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (77 * rgba[i].x + 150 * rgba[i].y + 29 * rgba[i].z + 128) >> 8;
}

__global__ void sobel(int w, int h, const unsigned char *in, unsigned char *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[y * w + x] = 0;
        return;
    }
    const unsigned char *p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-1 - w] - 2 * p[-w] - p[1 - w];
    int g = abs(gx) + abs(gy);
    out[y * w + x] = g > 255 ? 255 : g;
}

__global__ void bias_relu(int rows, int cols, const float *bias, float *x) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= rows || c >= cols) return;
    float v = x[r * cols + c] + bias[c];
    x[r * cols + c] = v > 0.0f ? v : 0.1f * v;
}

__global__ void count_bits(int n, const unsigned *words, unsigned *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, (unsigned)__popc(words[i]));
}

__global__ void enlarge(int w, int h, const float *in, float *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int x1 = x + 1 < w ? x + 1 : x, y1 = y + 1 < h ? y + 1 : y;
    float a = in[y * w + x], b = in[y * w + x1], c = in[y1 * w + x], d = in[y1 * w + x1];
    out[2 * y * 2 * w + 2 * x] = a;
    out[2 * y * 2 * w + 2 * x + 1] = 0.5f * (a + b);
    out[(2 * y + 1) * 2 * w + 2 * x] = 0.5f * (a + c);
    out[(2 * y + 1) * 2 * w + 2 * x + 1] = 0.25f * (a + b + (c + d));
}

__global__ void interleave(int n, int k, const float *planes, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int c = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && c < k) out[i * k + c] = planes[c * n + i];
}

__global__ void quantise(int n, const float *x, float scale, signed char *q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = rintf(x[i] * (50.0f * scale));
    v = v > 127.0f ? 127.0f : v;
    v = v < -128.0f ? -128.0f : v;
    q[i] = (signed char)v;
}

__global__ void row_dots(int rows, int cols, const float *a, const float *b, float *out) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += a[r * cols + c] * b[r * cols + c];
    out[r] = sum;
}

__global__ void bin_means(int n, const int *key, const int *value, int *sums, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&sums[key[i] & 31], value[i]);
    atomicAdd(&counts[key[i] & 31], 1);
}

__global__ void iterate(int w, int h, int *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float cr = -2.0f + 3.0f * x / w, ci = -1.0f + 2.0f * y / h, zr = 0, zi = 0;
    int i = 0;
    while (i < 20 && zr * zr + zi * zi <= 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        i++;
    }
    out[y * w + x] = i;
}

__global__ void half_product(int n, int m, int k, const __half *a, const __half *b, float *c) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= m) return;
    float sum = 0;
    for (int p = 0; p < k; p++) sum += __half2float(a[i * k + p]) * __half2float(b[p * m + j]);
    c[i * m + j] = sum;
}
