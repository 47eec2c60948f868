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
