// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>

#include "case.cu"

void act16_cpu(const float *m, float *r)
{
    for (int k = 0; k < 16; k++) r[k] = m[k] > 10.0f ? m[k] : log1pf(expf(m[k]));
}

void axpby7_cpu(const float *a, const float *x, const float *b, const float *y, float *r)
{
    for (int i = 0; i < 7; i++) r[i] = a[0] * x[i] + b[0] * y[i];
}

#define N4 4
#define AT(m, r, c) m[(r) * N4 + (c)]
void mul4_cpu(const float *a, const float *b, float *c)
{
    for (int i = 0; i < N4; i++)
        for (int j = 0; j < N4; j++) {
            AT(c, i, j) = 0.0f;
            for (int k = 0; k < N4; k++) AT(c, i, j) += AT(a, i, k) * AT(b, k, j);
        }
}

#undef N4
#undef AT
void norm7_cpu(const float *x, float *n)
{
    n[0] = std::sqrt(dotn<7>(x, x));
}

static void case_cpu(int count, const float *A, const float *x, const float *a, float *B, float *y)
{
    for (int e = 0; e < count; e++) {
        float c_A[16];
        float c_x[7];
        float c_B_2[16];
        float c_B[16];
        float c_y_2[7];
        float c_n[1];
        float c_y[7];
        for (int k = 0; k < 16; k++) c_A[k] = A[(size_t)k * count + e];
        for (int k = 0; k < 7; k++) c_x[k] = x[(size_t)k * count + e];
        mul4_cpu(c_A, c_A, c_B_2);
        act16_cpu(c_B_2, c_B);
        axpby7_cpu(a + (size_t)e * 1, c_x, a + (size_t)e * 1, c_x, c_y_2);
        norm7_cpu(c_y_2, c_n);
        axpby7_cpu(c_n, c_y_2, a + (size_t)e * 1, c_x, c_y);
        memcpy(B + (size_t)e * 16, c_B, sizeof c_B);
        for (int k = 0; k < 7; k++) y[(size_t)k * count + e] = c_y[k];
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *A, const float *x, const float *a, float *B, float *y, double *per_second)
{
    cudaError_t error = case_host(count, A, x, a, B, y);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 68;
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    cudaMemset(device_A, 0, room * 16 * sizeof(float));
    float *device_x = nullptr;
    cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    cudaMemset(device_x, 0, room * 7 * sizeof(float));
    float *device_a = nullptr;
    cudaMalloc((void **)&device_a, room * 1 * sizeof(float));
    cudaMemset(device_a, 0, room * 1 * sizeof(float));
    float *device_B = nullptr;
    cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    cudaMemset(device_B, 0, room * 16 * sizeof(float));
    float *device_y = nullptr;
    cudaMalloc((void **)&device_y, room * 7 * sizeof(float));
    cudaMemset(device_y, 0, room * 7 * sizeof(float));
    cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_a, a, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_A, device_x, device_a, device_B, device_y, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_A);
    cudaFree(device_x);
    cudaFree(device_a);
    cudaFree(device_B);
    cudaFree(device_y);
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
    float *A = (float *)malloc((size_t)count * 16 * sizeof(float));
    fill(A, (size_t)count * 16);
    float *x = (float *)malloc((size_t)count * 7 * sizeof(float));
    fill(x, (size_t)count * 7);
    float *a = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(a, (size_t)count * 1);
    float *B = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *B_expected = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *B_nudged = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *B_spread = (float *)calloc((size_t)count * 16, sizeof(float));
    float *y = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *y_expected = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *y_nudged = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *y_spread = (float *)calloc((size_t)count * 7, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, A, x, a, B, y, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, A, x, a, B_expected, y_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(A, (size_t)count * 16, round);
        nudge(x, (size_t)count * 7, round);
        nudge(a, (size_t)count * 1, round);
        case_cpu(count, A, x, a, B_nudged, y_nudged);
        widen(B_spread, B_nudged, B_expected, (size_t)count * 16);
        widen(y_spread, y_nudged, y_expected, (size_t)count * 7);
    }
    int differ = 0;
    differ += compare("B", B, B_expected, B_spread, (size_t)count, 16, 16, 1);
    differ += compare("y", y, y_expected, y_spread, (size_t)count, 7, 1, count);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 188 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(A);
    free(x);
    free(a);
    free(B);
    free(B_expected);
    free(B_nudged);
    free(B_spread);
    free(y);
    free(y_expected);
    free(y_nudged);
    free(y_spread);
    return differ == 0 ? 0 : 1;
}
