// References of the kernels in this folder: plain loops, as one writes them first.
#include <math.h>

void gemm(int n, int m, int k, const float *a, const float *b, float *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * m + j];
            c[i * m + j] = sum;
        }
}

void transpose(int rows, int cols, const float *in, float *out) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            out[j * rows + i] = in[i * cols + j];
}

float sum(int n, const float *x) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    return s;
}

double dot(int n, const double *x, const double *y) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

void saxpy(int n, float alpha, const float *x, float *y) {
    for (int i = 0; i < n; i++)
        y[i] = alpha * x[i] + y[i];
}

void softmax(int rows, int cols, const float *x, float *y) {
    for (int r = 0; r < rows; r++) {
        float most = x[r * cols];
        for (int c = 1; c < cols; c++)
            most = fmaxf(most, x[r * cols + c]);
        float total = 0;
        for (int c = 0; c < cols; c++)
            total += expf(x[r * cols + c] - most);
        for (int c = 0; c < cols; c++)
            y[r * cols + c] = expf(x[r * cols + c] - most) / total;
    }
}

void smooth(int n, const float *x, const float *w, float *y) {
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = -3; k <= 3; k++)
            if (i + k >= 0 && i + k < n)
                sum += w[k + 3] * x[i + k];
        y[i] = sum;
    }
}

void histogram(int n, const unsigned char *data, int *bins) {
    for (int i = 0; i < n; i++)
        bins[data[i]]++;
}

void scan(int rows, int cols, const int *x, int *y) {
    for (int r = 0; r < rows; r++) {
        int sum = 0;
        for (int c = 0; c < cols; c++) {
            sum += x[r * cols + c];
            y[r * cols + c] = sum;
        }
    }
}

void gemv(int rows, int cols, const float *a, const float *x, float *y) {
    for (int r = 0; r < rows; r++) {
        float sum = 0;
        for (int c = 0; c < cols; c++)
            sum += a[r * cols + c] * x[c];
        y[r] = sum;
    }
}

void row_max(int rows, int cols, const int *x, int *most) {
    for (int r = 0; r < rows; r++) {
        int m = x[r * cols];
        for (int c = 1; c < cols; c++)
            if (x[r * cols + c] > m)
                m = x[r * cols + c];
        most[r] = m;
    }
}

void forces(int n, const float *x, const float *y, float *fx) {
    for (int i = 0; i < n; i++) {
        float f = 0;
        for (int j = 0; j < n; j++) {
            float dx = x[j] - x[i], dy = y[j] - y[i];
            float d = dx * dx + dy * dy + 0.01f;
            f += dx / (d * sqrtf(d));
        }
        fx[i] = f;
    }
}

void conv3x3(int h, int w, const float *in, const float *k, float *out) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) {
                    int yy = y + j - 1, xx = x + i - 1;
                    if (yy < 0) yy = 0;
                    if (yy > h - 1) yy = h - 1;
                    if (xx < 0) xx = 0;
                    if (xx > w - 1) xx = w - 1;
                    sum += k[j * 3 + i] * in[yy * w + xx];
                }
            out[y * w + x] = sum;
        }
}

void gemm_ab(int n, int m, int k, float alpha, const float *a, const float *b, float beta, float *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * m + j];
            c[i * m + j] = alpha * sum + beta * c[i * m + j];
        }
}

void batched(int batch, int n, const float *a, const float *b, float *c) {
    for (int g = 0; g < batch; g++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                float sum = 0;
                for (int p = 0; p < n; p++)
                    sum += a[(g * n + i) * n + p] * b[(g * n + p) * n + j];
                c[(g * n + i) * n + j] = sum;
            }
}

void layernorm(int rows, int cols, const float *x, const float *gain, const float *bias, float *y) {
    for (int r = 0; r < rows; r++) {
        float mean = 0, square = 0;
        for (int c = 0; c < cols; c++)
            mean += x[r * cols + c];
        mean /= cols;
        for (int c = 0; c < cols; c++)
            square += (x[r * cols + c] - mean) * (x[r * cols + c] - mean);
        float scale = 1.0f / sqrtf(square / cols + 1e-3f);
        for (int c = 0; c < cols; c++)
            y[r * cols + c] = (x[r * cols + c] - mean) * scale * gain[c] + bias[c];
    }
}

void argmin(int rows, int cols, const int *x, int *at) {
    for (int r = 0; r < rows; r++) {
        int best = 0;
        for (int c = 1; c < cols; c++)
            if (x[r * cols + c] < x[r * cols + best])
                best = c;
        at[r] = best;
    }
}

void maxpool(int h, int w, const float *in, float *out) {
    int oh = (h + 1) / 2, ow = (w + 1) / 2;
    for (int y = 0; y < oh; y++)
        for (int x = 0; x < ow; x++) {
            float most = in[2 * y * w + 2 * x];
            for (int j = 0; j < 2; j++)
                for (int i = 0; i < 2; i++)
                    if (2 * y + j < h && 2 * x + i < w && in[(2 * y + j) * w + 2 * x + i] > most)
                        most = in[(2 * y + j) * w + 2 * x + i];
            out[y * ow + x] = most;
        }
}

void scatter_add(int n, const int *at, const int *v, int *out) {
    for (int i = 0; i < n; i++)
        out[at[i]] += v[i];
}

void col_sums(int rows, int cols, const float *x, float *sums) {
    for (int c = 0; c < cols; c++) {
        float s = 0;
        for (int r = 0; r < rows; r++)
            s += x[r * cols + c];
        sums[c] = s;
    }
}

void dgemm_nt(int n, int m, int k, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int p = 0; p < k; p++)
                sum += a[i * k + p] * b[j * k + p];
            c[i * m + j] = sum;
        }
}

void sort_rows(int rows, int cols, const int *x, int *y) {
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            int rank = 0;
            for (int d = 0; d < cols; d++)
                if (x[r * cols + d] < x[r * cols + c] || (x[r * cols + d] == x[r * cols + c] && d < c))
                    rank++;
            y[r * cols + rank] = x[r * cols + c];
        }
}

void life(int h, int w, const unsigned char *in, unsigned char *out) {
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int around = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    if ((i != 0 || j != 0) && y + j >= 0 && y + j < h && x + i >= 0 && x + i < w)
                        around += in[(y + j) * w + x + i] & 1;
            out[y * w + x] = around == 3 || (around == 2 && (in[y * w + x] & 1));
        }
}

void spmv(int rows, const int *start, const int *col, const float *val, const float *x, float *y) {
    for (int r = 0; r < rows; r++) {
        float sum = 0;
        for (int e = start[r]; e < start[r + 1]; e++)
            sum += val[e] * x[col[e]];
        y[r] = sum;
    }
}

void distances(int n, int m, int d, const float *p, const float *q, float *out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int c = 0; c < d; c++) {
                float t = p[i * d + c] - q[j * d + c];
                sum += t * t;
            }
            out[i * m + j] = sum;
        }
}

// Several steps of heat along a line whose ends are kept.
void heat_steps(int n, int steps, float *u, float *v) {
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            v[i] = i == 0 || i == n - 1 ? u[i] : 0.25f * u[i - 1] + 0.5f * u[i] + 0.25f * u[i + 1];
        for (int i = 0; i < n; i++)
            u[i] = v[i];
    }
}

void sum_to(int n, const float *x, float *out) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    out[0] = s;
}

void scan_line(int n, const int *x, int *y) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        y[i] = s;
        s += x[i];
    }
}

void shortest(int n, int *d) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (i != k && j != k && d[i * n + k] + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
}

void sort_line(int n, int *x) {
    for (int i = 1; i < n; i++) {
        int v = x[i], j = i;
        for (; j > 0 && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

// Labels of cells that are joined to the right or below become the least of those that are connected.
void components(int h, int w, const int *joined, int *label) {
    for (int i = 0; i < h * w; i++)
        label[i] = i;
    int changed = 1;
    while (changed) {
        changed = 0;
        for (int i = 0; i < h * w; i++) {
            int right = i % w + 1 < w && (joined[i] & 1) ? i + 1 : -1;
            int below = i / w + 1 < h && (joined[i] & 2) ? i + w : -1;
            for (int k = 0; k < 2; k++) {
                int o = k ? below : right;
                if (o < 0 || label[o] == label[i])
                    continue;
                int least = label[o] < label[i] ? label[o] : label[i];
                label[o] = least;
                label[i] = least;
                changed = 1;
            }
        }
    }
}

void lower_solve(int n, const double *l, double *b) {
    for (int k = 0; k < n; k++) {
        b[k] = b[k] / (4.0 + l[k * n + k] * l[k * n + k]);
        for (int i = k + 1; i < n; i++)
            b[i] -= l[i * n + k] * b[k];
    }
}

void largest(int rows, int cols, const int *x, int *best) {
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < 3; k++)
            best[r * 3 + k] = -1000000000;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            int v = x[r * cols + c];
            for (int k = 0; k < 3; k++)
                if (v > best[r * 3 + k]) {
                    int other = best[r * 3 + k];
                    best[r * 3 + k] = v;
                    v = other;
                }
        }
}

void scale_copy(int n, float s, const float *x, float *y) {
    for (int i = 0; i < n; i++)
        y[i] = s * x[i];
}
