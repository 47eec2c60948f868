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
static void case_cpu(int count, const float *A, const float *B, float *A_out, float *B_out, float *F, float *E)
{
    for (int e = 0; e < count; e++) {
        float c_A_2[16];
        float c_B_2[16];
        float c_C[16];
        float c_A_3[16];
        float c_B_3[16];
        float c_A_4[16];
        float c_B_4[16];
        float c_A_5[16];
        float c_B_5[16];
        float c_A_6[16];
        float c_B_6[16];
        float c_A_7[16];
        float c_B_7[16];
        float c_A_8[16];
        float c_B_8[16];
        float c_A_9[16];
        float c_B_9[16];
        float c_A_10[16];
        float c_B_10[16];
        float c_A_11[16];
        float c_B_11[16];
        float c_A_12[16];
        float c_B_12[16];
        float c_A_13[16];
        float c_B_13[16];
        float c_A_14[16];
        float c_A_out[16];
        float c_B_out[16];
        float c_D[16];
        float c_E[16];
        float c_F[16];
        memcpy(c_A_2, A + (size_t)e * 16, sizeof c_A_2);
        memcpy(c_B_2, B + (size_t)e * 16, sizeof c_B_2);
        for (int i1 = 0; i1 < 3; i1++) {
            mul4_cpu(c_A_2, c_B_2, c_C);
            memcpy(c_A_3, c_A_2, sizeof c_A_3);
            memcpy(c_B_3, c_B_2, sizeof c_B_3);
            for (int i2 = 0; i2 < 1; i2++) {
                act16_cpu(c_A_3, c_A_4);
                mul4_cpu(c_B_3, c_A_4, c_B_4);
                act16_cpu(c_A_4, c_A_5);
                mul4_cpu(c_B_4, c_A_5, c_B_5);
                act16_cpu(c_A_5, c_A_6);
                mul4_cpu(c_B_5, c_A_6, c_B_6);
                act16_cpu(c_A_6, c_A_7);
                mul4_cpu(c_B_6, c_A_7, c_B_7);
                act16_cpu(c_A_7, c_A_8);
                mul4_cpu(c_B_7, c_A_8, c_B_8);
                act16_cpu(c_A_8, c_A_9);
                mul4_cpu(c_B_8, c_A_9, c_B_9);
                act16_cpu(c_A_9, c_A_10);
                mul4_cpu(c_B_9, c_A_10, c_B_10);
                act16_cpu(c_A_10, c_A_11);
                mul4_cpu(c_B_10, c_A_11, c_B_11);
                memcpy(c_A_3, c_A_11, sizeof c_A_3);
                memcpy(c_B_3, c_B_11, sizeof c_B_3);
            }
            memcpy(c_A_12, c_A_11, sizeof c_A_12);
            memcpy(c_B_12, c_B_11, sizeof c_B_12);
            act16_cpu(c_A_12, c_A_13);
            mul4_cpu(c_B_12, c_A_13, c_B_13);
            act16_cpu(c_C, c_A_14);
            memcpy(c_A_2, c_A_14, sizeof c_A_2);
            memcpy(c_B_2, c_B_13, sizeof c_B_2);
        }
        memcpy(c_A_out, c_A_14, sizeof c_A_out);
        memcpy(c_B_out, c_B_13, sizeof c_B_out);
        mul4_cpu(c_A_out, c_A_out, c_D);
        act16_cpu(c_D, c_E);
        mul4_cpu(c_D, c_E, c_F);
        memcpy(A_out + (size_t)e * 16, c_A_out, sizeof c_A_out);
        memcpy(B_out + (size_t)e * 16, c_B_out, sizeof c_B_out);
        memcpy(F + (size_t)e * 16, c_F, sizeof c_F);
        memcpy(E + (size_t)e * 16, c_E, sizeof c_E);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *A, const float *B, float *A_out, float *B_out, float *F, float *E, double *per_second)
{
    cudaError_t error = case_host(count, A, B, A_out, B_out, F, E);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    cudaMemset(device_A, 0, room * 16 * sizeof(float));
    float *device_B = nullptr;
    cudaMalloc((void **)&device_B, room * 16 * sizeof(float));
    cudaMemset(device_B, 0, room * 16 * sizeof(float));
    float *device_A_out = nullptr;
    cudaMalloc((void **)&device_A_out, room * 16 * sizeof(float));
    cudaMemset(device_A_out, 0, room * 16 * sizeof(float));
    float *device_B_out = nullptr;
    cudaMalloc((void **)&device_B_out, room * 16 * sizeof(float));
    cudaMemset(device_B_out, 0, room * 16 * sizeof(float));
    float *device_F = nullptr;
    cudaMalloc((void **)&device_F, room * 16 * sizeof(float));
    cudaMemset(device_F, 0, room * 16 * sizeof(float));
    float *device_E = nullptr;
    cudaMalloc((void **)&device_E, room * 16 * sizeof(float));
    cudaMemset(device_E, 0, room * 16 * sizeof(float));
    cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_B, B, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_A, device_B, device_A_out, device_B_out, device_F, device_E, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_A_out);
    cudaFree(device_B_out);
    cudaFree(device_F);
    cudaFree(device_E);
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
    float *B = (float *)malloc((size_t)count * 16 * sizeof(float));
    fill(B, (size_t)count * 16);
    float *A_out = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *A_out_expected = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *A_out_nudged = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *A_out_spread = (float *)calloc((size_t)count * 16, sizeof(float));
    float *B_out = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *B_out_expected = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *B_out_nudged = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *B_out_spread = (float *)calloc((size_t)count * 16, sizeof(float));
    float *F = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *F_expected = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *F_nudged = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *F_spread = (float *)calloc((size_t)count * 16, sizeof(float));
    float *E = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *E_expected = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *E_nudged = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *E_spread = (float *)calloc((size_t)count * 16, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, A, B, A_out, B_out, F, E, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, A, B, A_out_expected, B_out_expected, F_expected, E_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(A, (size_t)count * 16, round);
        nudge(B, (size_t)count * 16, round);
        case_cpu(count, A, B, A_out_nudged, B_out_nudged, F_nudged, E_nudged);
        widen(A_out_spread, A_out_nudged, A_out_expected, (size_t)count * 16);
        widen(B_out_spread, B_out_nudged, B_out_expected, (size_t)count * 16);
        widen(F_spread, F_nudged, F_expected, (size_t)count * 16);
        widen(E_spread, E_nudged, E_expected, (size_t)count * 16);
    }
    int differ = 0;
    differ += compare("A_out", A_out, A_out_expected, A_out_spread, (size_t)count, 16, 16, 1);
    differ += compare("B_out", B_out, B_out_expected, B_out_spread, (size_t)count, 16, 16, 1);
    differ += compare("F", F, F_expected, F_spread, (size_t)count, 16, 16, 1);
    differ += compare("E", E, E_expected, E_spread, (size_t)count, 16, 16, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 384 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(A);
    free(B);
    free(A_out);
    free(A_out_expected);
    free(A_out_nudged);
    free(A_out_spread);
    free(B_out);
    free(B_out_expected);
    free(B_out_nudged);
    free(B_out_spread);
    free(F);
    free(F_expected);
    free(F_nudged);
    free(F_spread);
    free(E);
    free(E_expected);
    free(E_nudged);
    free(E_spread);
    return differ == 0 ? 0 : 1;
}
