// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.cu"

void axpby7_cpu(const float *a, const float *x, const float *b, const float *y, float *r)
{
    for (int i = 0; i < 7; i++) r[i] = a[0] * x[i] + b[0] * y[i];
}

void pick7_cpu(const float *x, const float *w, float *r)
{
    int k = (int)(w[0] * 5.0f) % 7;
    r[0] = x[k < 0 ? 0 : k];
}

static void case_cpu(int count, const float *x, const float *y, const float *w, float *x_out, float *s)
{
    for (int e = 0; e < count; e++) {
        float c_r[1];
        float c_s[1];
        float c_x_out[7];
        pick7_cpu(x + (size_t)e * 7, w + (size_t)e * 1, c_r);
        pick7_cpu(y + (size_t)e * 7, c_r, c_s);
        axpby7_cpu(c_r, x + (size_t)e * 7, c_s, y + (size_t)e * 7, c_x_out);
        memcpy(x_out + (size_t)e * 7, c_x_out, sizeof c_x_out);
        memcpy(s + (size_t)e * 1, c_s, sizeof c_s);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *x, const float *y, const float *w, float *x_out, float *s, double *per_second)
{
    cudaError_t error = case_host(count, x, y, w, x_out, s);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_x = nullptr;
    cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    cudaMemset(device_x, 0, room * 7 * sizeof(float));
    float *device_y = nullptr;
    cudaMalloc((void **)&device_y, room * 7 * sizeof(float));
    cudaMemset(device_y, 0, room * 7 * sizeof(float));
    float *device_w = nullptr;
    cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    cudaMemset(device_w, 0, room * 1 * sizeof(float));
    float *device_x_out = nullptr;
    cudaMalloc((void **)&device_x_out, room * 7 * sizeof(float));
    cudaMemset(device_x_out, 0, room * 7 * sizeof(float));
    float *device_s = nullptr;
    cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    cudaMemset(device_s, 0, room * 1 * sizeof(float));
    cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_y, y, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_x, device_y, device_w, device_x_out, device_s, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_x);
    cudaFree(device_y);
    cudaFree(device_w);
    cudaFree(device_x_out);
    cudaFree(device_s);
    cudaFree(workspace);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return cudaGetLastError();
}

// Numbers between 0.1 and 1.1, the same in every run.
static void fill(float *to, size_t length)
{
    static unsigned state = 2463534242u;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        to[i] = 0.1f + (state >> 8) * (1.0f / 16777216.0f);
    }
}

// Changes numbers in their last two bits, up or down; which way is another for each seed. A change of the last one alone
// is often rounded off on the way to a result.
static void nudge(float *x, size_t length, unsigned seed)
{
    unsigned state = 88675123u * (seed + 1u);
    for (size_t i = 0; i < length; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] += x[i] * (state >> 31 ? 2.4e-7f : -2.4e-7f);
    }
}

// Keeps the largest distances of results from what was expected.
static void widen(float *spread, const float *nudged, const float *expected, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const float far = fabsf(nudged[i] - expected[i]);
        if (!(far <= spread[i])) spread[i] = far;
    }
}

// 0 when the arrays agree but for rounding, else 1; says where they first do not. `spread` says how far results go apart
// when inputs change in their last bits: where that is much, so is rounding. Float k of element e stands at
// e * apart + k * pitch.
static int compare(const char *name, const float *actual, const float *expected, const float *spread, size_t count,
                   int size, size_t apart, size_t pitch)
{
    float largest = 0.0f;
    for (size_t i = 0; i < count * size; i++)
        if (fabsf(expected[i]) > largest && fabsf(expected[i]) < INFINITY) largest = fabsf(expected[i]);
    for (size_t e = 0; e < count; e++) {
        // The worst of an element stands for all of it: a few samples may be near by chance.
        float open = 0.0f;
        for (int k = 0; k < size; k++)
            if (!(spread[e * apart + k * pitch] <= open)) open = spread[e * apart + k * pitch];
        // Where the last bits decide whether there is a number, nothing can be said.
        if (!(open < INFINITY)) continue;
        for (int k = 0; k < size; k++) {
            const float a = actual[e * apart + k * pitch], x = expected[e * apart + k * pitch];
            if (a == x || (a != a && x != x)) continue;
            // Also true where only one is no number.
            if (!(fabsf(a - x) <= 1e-4f * fabsf(x) + 1e-6f * largest + 64.0f * open)) {
                printf("%s: element %llu, float %d: %g in place of %g\n", name, (unsigned long long)e, k, a, x);
                return 1;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 4194304;
    if (count <= 0) return 0;
    float *x = (float *)malloc((size_t)count * 7 * sizeof(float));
    fill(x, (size_t)count * 7);
    float *y = (float *)malloc((size_t)count * 7 * sizeof(float));
    fill(y, (size_t)count * 7);
    float *w = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(w, (size_t)count * 1);
    float *x_out = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *x_out_expected = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *x_out_nudged = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *x_out_spread = (float *)calloc((size_t)count * 7, sizeof(float));
    float *s = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *s_expected = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *s_nudged = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *s_spread = (float *)calloc((size_t)count * 1, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, x, y, w, x_out, s, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, x, y, w, x_out_expected, s_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(x, (size_t)count * 7, round);
        nudge(y, (size_t)count * 7, round);
        nudge(w, (size_t)count * 1, round);
        case_cpu(count, x, y, w, x_out_nudged, s_nudged);
        widen(x_out_spread, x_out_nudged, x_out_expected, (size_t)count * 7);
        widen(s_spread, s_nudged, s_expected, (size_t)count * 1);
    }
    int differ = 0;
    differ += compare("x_out", x_out, x_out_expected, x_out_spread, (size_t)count, 7, 7, 1);
    differ += compare("s", s, s_expected, s_spread, (size_t)count, 1, 1, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 92 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(x);
    free(y);
    free(w);
    free(x_out);
    free(x_out_expected);
    free(x_out_nudged);
    free(x_out_spread);
    free(s);
    free(s_expected);
    free(s_nudged);
    free(s_spread);
    return differ == 0 ? 0 : 1;
}
