// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>

#include "case.cu"

namespace minv33_reference {

#define AT(i, j) a[(i) * 3 + (j)]
static float cofactor(const float *a, int i, int j) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return AT(i1, j1) * AT(i2, j2) - AT(i1, j2) * AT(i2, j1);
}
void minv33_cpu(const float *a, float *out) {
    float det = 0.0f;
    for (int j = 0; j < 3; j++) det += AT(0, j) * cofactor(a, 0, j);
    const float r = fabsf(det) > 1e-30f ? 1.0f / det : 0.0f;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[j * 3 + i] = cofactor(a, i, j) * r;
}

}

#undef AT
void mmul33_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

void mvmul33_cpu(const float *A, const float *v, float *w)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}

static void case_cpu(int count, const float *A, const float *v, float *w, float *I)
{
    for (int e = 0; e < count; e++) {
        float c_A[9];
        float c_v[3];
        float c_I[9];
        float c_P[9];
        float c_w[3];
        for (int k = 0; k < 9; k++) c_A[k] = A[(size_t)k * count + e];
        for (int k = 0; k < 3; k++) c_v[k] = v[(size_t)k * count + e];
        minv33_reference::minv33_cpu(c_A, c_I);
        mmul33_cpu(c_I, c_A, c_P);
        mvmul33_cpu(c_P, c_v, c_w);
        for (int k = 0; k < 3; k++) w[(size_t)k * count + e] = c_w[k];
        for (int k = 0; k < 9; k++) I[(size_t)k * count + e] = c_I[k];
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *A, const float *v, float *w, float *I, double *per_second)
{
    cudaError_t error = case_host(count, A, v, w, I);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    cudaMemset(device_A, 0, room * 9 * sizeof(float));
    float *device_v = nullptr;
    cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    cudaMemset(device_v, 0, room * 3 * sizeof(float));
    float *device_w = nullptr;
    cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    cudaMemset(device_w, 0, room * 3 * sizeof(float));
    float *device_I = nullptr;
    cudaMalloc((void **)&device_I, room * 9 * sizeof(float));
    cudaMemset(device_I, 0, room * 9 * sizeof(float));
    cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_A, device_v, device_w, device_I, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_A);
    cudaFree(device_v);
    cudaFree(device_w);
    cudaFree(device_I);
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
    float *A = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(A, (size_t)count * 9);
    float *v = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(v, (size_t)count * 3);
    float *w = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    float *I = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *I_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *I_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *I_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, A, v, w, I, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, A, v, w_expected, I_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(A, (size_t)count * 9, round);
        nudge(v, (size_t)count * 3, round);
        case_cpu(count, A, v, w_nudged, I_nudged);
        widen(w_spread, w_nudged, w_expected, (size_t)count * 3);
        widen(I_spread, I_nudged, I_expected, (size_t)count * 9);
    }
    int differ = 0;
    differ += compare("w", w, w_expected, w_spread, (size_t)count, 3, 1, count);
    differ += compare("I", I, I_expected, I_spread, (size_t)count, 9, 1, count);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 96 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(A);
    free(v);
    free(w);
    free(w_expected);
    free(w_nudged);
    free(w_spread);
    free(I);
    free(I_expected);
    free(I_nudged);
    free(I_spread);
    return differ == 0 ? 0 : 1;
}
