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

void ttmul311_cpu(const float *T, const float *v, float *R)
{
    for (int i = 0; i < 9; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += T[i * 3 + k] * v[k];
        R[i] = sum;
    }
}

void venorm3_cpu(const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

void vvmulabs3_cpu(const float *u, const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

static void case_cpu(int count, const float *in_M, const float *in_v, const float *in_s, const float *in_3, float *x1, float *x6, float *x7, float *x8, float *x9)
{
    for (int e = 0; e < count; e++) {
        float c_x0[9];
        float c_x1[9];
        float c_x2[9];
        float c_x3[1];
        float c_x4[1];
        float c_x5[9];
        float c_x6[25];
        float c_x7[1];
        float c_x8[9];
        float c_x9[1];
        smimul33_cpu(in_s + (size_t)e * 1, c_x0);
        smimul33_cpu(in_s + (size_t)e * 1, c_x1);
        ttmul311_cpu(in_3 + (size_t)e * 27, in_v + (size_t)e * 3, c_x2);
        venorm3_cpu(in_v + (size_t)e * 3, c_x3);
        vvmulabs3_cpu(in_v + (size_t)e * 3, in_v + (size_t)e * 3, c_x4);
        madd33_cpu(c_x0, c_x2, c_x5);
        smmul55_cpu(in_M + (size_t)e * 25, c_x3, c_x6);
        vvmulabs3_cpu(in_v + (size_t)e * 3, in_v + (size_t)e * 3, c_x7);
        smmul33_cpu(c_x5, c_x4, c_x8);
        vvmulabs3_cpu(in_v + (size_t)e * 3, in_v + (size_t)e * 3, c_x9);
        memcpy(x1 + (size_t)e * 9, c_x1, sizeof c_x1);
        memcpy(x6 + (size_t)e * 25, c_x6, sizeof c_x6);
        memcpy(x7 + (size_t)e * 1, c_x7, sizeof c_x7);
        memcpy(x8 + (size_t)e * 9, c_x8, sizeof c_x8);
        memcpy(x9 + (size_t)e * 1, c_x9, sizeof c_x9);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *in_M, const float *in_v, const float *in_s, const float *in_3, float *x1, float *x6, float *x7, float *x8, float *x9, double *per_second)
{
    cudaError_t error = case_host(count, in_M, in_v, in_s, in_3, x1, x6, x7, x8, x9);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_in_M = nullptr;
    cudaMalloc((void **)&device_in_M, room * 25 * sizeof(float));
    cudaMemset(device_in_M, 0, room * 25 * sizeof(float));
    float *device_in_v = nullptr;
    cudaMalloc((void **)&device_in_v, room * 3 * sizeof(float));
    cudaMemset(device_in_v, 0, room * 3 * sizeof(float));
    float *device_in_s = nullptr;
    cudaMalloc((void **)&device_in_s, room * 1 * sizeof(float));
    cudaMemset(device_in_s, 0, room * 1 * sizeof(float));
    float *device_in_3 = nullptr;
    cudaMalloc((void **)&device_in_3, room * 27 * sizeof(float));
    cudaMemset(device_in_3, 0, room * 27 * sizeof(float));
    float *device_x1 = nullptr;
    cudaMalloc((void **)&device_x1, room * 9 * sizeof(float));
    cudaMemset(device_x1, 0, room * 9 * sizeof(float));
    float *device_x6 = nullptr;
    cudaMalloc((void **)&device_x6, room * 25 * sizeof(float));
    cudaMemset(device_x6, 0, room * 25 * sizeof(float));
    float *device_x7 = nullptr;
    cudaMalloc((void **)&device_x7, room * 1 * sizeof(float));
    cudaMemset(device_x7, 0, room * 1 * sizeof(float));
    float *device_x8 = nullptr;
    cudaMalloc((void **)&device_x8, room * 9 * sizeof(float));
    cudaMemset(device_x8, 0, room * 9 * sizeof(float));
    float *device_x9 = nullptr;
    cudaMalloc((void **)&device_x9, room * 1 * sizeof(float));
    cudaMemset(device_x9, 0, room * 1 * sizeof(float));
    cudaMemcpy(device_in_M, in_M, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_in_v, in_v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_in_s, in_s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_in_3, in_3, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_in_M, device_in_v, device_in_s, device_in_3, device_x1, device_x6, device_x7, device_x8, device_x9, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_in_M);
    cudaFree(device_in_v);
    cudaFree(device_in_s);
    cudaFree(device_in_3);
    cudaFree(device_x1);
    cudaFree(device_x6);
    cudaFree(device_x7);
    cudaFree(device_x8);
    cudaFree(device_x9);
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
    float *in_M = (float *)malloc((size_t)count * 25 * sizeof(float));
    fill(in_M, (size_t)count * 25);
    float *in_v = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(in_v, (size_t)count * 3);
    float *in_s = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(in_s, (size_t)count * 1);
    float *in_3 = (float *)malloc((size_t)count * 27 * sizeof(float));
    fill(in_3, (size_t)count * 27);
    float *x1 = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x1_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x1_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x1_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *x6 = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x6_expected = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x6_nudged = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *x6_spread = (float *)calloc((size_t)count * 25, sizeof(float));
    float *x7 = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *x7_expected = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *x7_nudged = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *x7_spread = (float *)calloc((size_t)count * 1, sizeof(float));
    float *x8 = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x8_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x8_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *x8_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *x9 = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *x9_expected = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *x9_nudged = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *x9_spread = (float *)calloc((size_t)count * 1, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, in_M, in_v, in_s, in_3, x1, x6, x7, x8, x9, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, in_M, in_v, in_s, in_3, x1_expected, x6_expected, x7_expected, x8_expected, x9_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(in_M, (size_t)count * 25, round);
        nudge(in_v, (size_t)count * 3, round);
        nudge(in_s, (size_t)count * 1, round);
        nudge(in_3, (size_t)count * 27, round);
        case_cpu(count, in_M, in_v, in_s, in_3, x1_nudged, x6_nudged, x7_nudged, x8_nudged, x9_nudged);
        widen(x1_spread, x1_nudged, x1_expected, (size_t)count * 9);
        widen(x6_spread, x6_nudged, x6_expected, (size_t)count * 25);
        widen(x7_spread, x7_nudged, x7_expected, (size_t)count * 1);
        widen(x8_spread, x8_nudged, x8_expected, (size_t)count * 9);
        widen(x9_spread, x9_nudged, x9_expected, (size_t)count * 1);
    }
    int differ = 0;
    differ += compare("x1", x1, x1_expected, x1_spread, (size_t)count, 9, 9, 1);
    differ += compare("x6", x6, x6_expected, x6_spread, (size_t)count, 25, 25, 1);
    differ += compare("x7", x7, x7_expected, x7_spread, (size_t)count, 1, 1, 1);
    differ += compare("x8", x8, x8_expected, x8_spread, (size_t)count, 9, 9, 1);
    differ += compare("x9", x9, x9_expected, x9_spread, (size_t)count, 1, 1, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 404 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(in_M);
    free(in_v);
    free(in_s);
    free(in_3);
    free(x1);
    free(x1_expected);
    free(x1_nudged);
    free(x1_spread);
    free(x6);
    free(x6_expected);
    free(x6_nudged);
    free(x6_spread);
    free(x7);
    free(x7_expected);
    free(x7_nudged);
    free(x7_spread);
    free(x8);
    free(x8_expected);
    free(x8_nudged);
    free(x8_spread);
    free(x9);
    free(x9_expected);
    free(x9_nudged);
    free(x9_spread);
    return differ == 0 ? 0 : 1;
}
