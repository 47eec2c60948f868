// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.cu"

void madd33_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[i];
}

void madd55_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 25; i++) C[i] = A[i] + B[i];
}

void mvmul33_cpu(const float *A, const float *v, float *w)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}

void smimul33_cpu(const float *s, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = i % 4 == 0 ? s[0] : 0.0f;
}

void smmul33_cpu(const float *A, const float *s, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = s[0] * A[i];
}

void smmul55_cpu(const float *A, const float *s, float *C)
{
    for (int i = 0; i < 25; i++) C[i] = s[0] * A[i];
}

void svmul3_cpu(const float *v, const float *s, float *w)
{
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

void vvmulabs3_cpu(const float *u, const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

static void case_cpu(int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, float *x0, float *x3, float *x4, float *x5, float *x10, float *x11)
{
    for (int e = 0; e < count; e++) {
        float c_x0[25];
        float c_x1[9];
        float c_x2[1];
        float c_x3[25];
        float c_x4[3];
        float c_x5[9];
        float c_x6[9];
        float c_x7[3];
        float c_x8[9];
        float c_x9[9];
        float c_x10[9];
        float c_x11[3];
        madd55_cpu(in_M + (size_t)e * 25, in_M + (size_t)e * 25, c_x0);
        smmul33_cpu(in_m + (size_t)e * 9, in_s + (size_t)e * 1, c_x1);
        vvmulabs3_cpu(in_v + (size_t)e * 3, in_v + (size_t)e * 3, c_x2);
        smmul55_cpu(in_M + (size_t)e * 25, c_x2, c_x3);
        svmul3_cpu(in_v + (size_t)e * 3, c_x2, c_x4);
        madd33_cpu(c_x1, c_x1, c_x5);
        smimul33_cpu(c_x2, c_x6);
        mvmul33_cpu(c_x1, in_v + (size_t)e * 3, c_x7);
        smimul33_cpu(c_x2, c_x8);
        madd33_cpu(c_x8, c_x6, c_x9);
        smmul33_cpu(c_x9, c_x2, c_x10);
        svmul3_cpu(c_x7, in_s + (size_t)e * 1, c_x11);
        memcpy(x0 + (size_t)e * 25, c_x0, sizeof c_x0);
        memcpy(x3 + (size_t)e * 25, c_x3, sizeof c_x3);
        memcpy(x4 + (size_t)e * 3, c_x4, sizeof c_x4);
        memcpy(x5 + (size_t)e * 9, c_x5, sizeof c_x5);
        memcpy(x10 + (size_t)e * 9, c_x10, sizeof c_x10);
        memcpy(x11 + (size_t)e * 3, c_x11, sizeof c_x11);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *in_m, const float *in_M, const float *in_v, const float *in_s, float *x0, float *x3, float *x4, float *x5, float *x10, float *x11, double *per_second)
{
    cudaError_t error = case_host(count, in_m, in_M, in_v, in_s, x0, x3, x4, x5, x10, x11);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_in_m = nullptr;
    cudaMalloc((void **)&device_in_m, room * 9 * sizeof(float));
    cudaMemset(device_in_m, 0, room * 9 * sizeof(float));
    float *device_in_M = nullptr;
    cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    cudaMemset(device_in_M, 0, room * 25 * sizeof(float));
    float *device_in_v = nullptr;
    cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    float *device_in_s = nullptr;
    cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    float *device_x0 = nullptr;
    cudaMalloc((void **)&device_x0, room * 25 * sizeof(float));
    cudaMemset(device_x0, 0, room * 25 * sizeof(float));
    float *device_x3 = nullptr;
    cudaMalloc((void **)&device_x3, room * 25 * sizeof(float));
    cudaMemset(device_x3, 0, room * 25 * sizeof(float));
    float *device_x4 = nullptr;
    cudaMalloc((void **)&device_x4, room * 3 * sizeof(float));
    cudaMemset(device_x4, 0, room * 3 * sizeof(float));
    float *device_x5 = nullptr;
    cudaMalloc((void **)&device_x5, room * 9 * sizeof(float));
    cudaMemset(device_x5, 0, room * 9 * sizeof(float));
    float *device_x10 = nullptr;
    cudaMalloc((void **)&device_x10, room * 9 * sizeof(float));
    cudaMemset(device_x10, 0, room * 9 * sizeof(float));
    float *device_x11 = nullptr;
    cudaMalloc((void **)&device_x11, room * 3 * sizeof(float));
    cudaMemset(device_x11, 0, room * 3 * sizeof(float));
    cudaMemcpy(device_in_m, in_m, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_in_m, device_in_M, device_in_v, device_in_s, device_x0, device_x3, device_x4, device_x5, device_x10, device_x11, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_in_m);
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_x0);
    cudaFree(device_x3);
    cudaFree(device_x4);
    cudaFree(device_x5);
    cudaFree(device_x10);
    cudaFree(device_x11);
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
    float *in_m = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(in_m, (size_t)count * 9);
    float *in_M = (float *)malloc((size_t)count * 25 * sizeof(float));
    fill(in_M, (size_t)count * 25);
    float *in_v = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(in_v, (size_t)count * 3);
    float *in_s = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(in_s, (size_t)count * 1);
    float *x0 = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x0_expected = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x0_nudged = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x0_spread = (float *)calloc((size_t)count * 25, sizeof(float));
    float *x3 = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x3_expected = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x3_nudged = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x3_spread = (float *)calloc((size_t)count * 25, sizeof(float));
    float *x4 = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *x4_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *x4_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *x4_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    float *x5 = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x5_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x5_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x5_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *x10 = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x10_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x10_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x10_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *x11 = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *x11_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *x11_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *x11_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, in_m, in_M, in_v, in_s, x0, x3, x4, x5, x10, x11, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, in_m, in_M, in_v, in_s, x0_expected, x3_expected, x4_expected, x5_expected, x10_expected, x11_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(in_m, (size_t)count * 9, round);
        nudge(in_M, (size_t)count * 25, round);
        nudge(in_v, (size_t)count * 3, round);
        nudge(in_s, (size_t)count * 1, round);
        case_cpu(count, in_m, in_M, in_v, in_s, x0_nudged, x3_nudged, x4_nudged, x5_nudged, x10_nudged, x11_nudged);
        widen(x0_spread, x0_nudged, x0_expected, (size_t)count * 25);
        widen(x3_spread, x3_nudged, x3_expected, (size_t)count * 25);
        widen(x4_spread, x4_nudged, x4_expected, (size_t)count * 3);
        widen(x5_spread, x5_nudged, x5_expected, (size_t)count * 9);
        widen(x10_spread, x10_nudged, x10_expected, (size_t)count * 9);
        widen(x11_spread, x11_nudged, x11_expected, (size_t)count * 3);
    }
    int differ = 0;
    differ += compare("x0", x0, x0_expected, x0_spread, (size_t)count, 25, 25, 1);
    differ += compare("x3", x3, x3_expected, x3_spread, (size_t)count, 25, 25, 1);
    differ += compare("x4", x4, x4_expected, x4_spread, (size_t)count, 3, 3, 1);
    differ += compare("x5", x5, x5_expected, x5_spread, (size_t)count, 9, 9, 1);
    differ += compare("x10", x10, x10_expected, x10_spread, (size_t)count, 9, 9, 1);
    differ += compare("x11", x11, x11_expected, x11_spread, (size_t)count, 3, 3, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 448 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(in_m);
    free(in_M);
    free(in_v);
    free(in_s);
    free(x0);
    free(x0_expected);
    free(x0_nudged);
    free(x0_spread);
    free(x3);
    free(x3_expected);
    free(x3_nudged);
    free(x3_spread);
    free(x4);
    free(x4_expected);
    free(x4_nudged);
    free(x4_spread);
    free(x5);
    free(x5_expected);
    free(x5_nudged);
    free(x5_spread);
    free(x10);
    free(x10_expected);
    free(x10_nudged);
    free(x10_spread);
    free(x11);
    free(x11_expected);
    free(x11_nudged);
    free(x11_spread);
    return differ == 0 ? 0 : 1;
}
