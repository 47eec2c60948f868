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

void smmul55_cpu(const float *A, const float *s, float *C)
{
    for (int i = 0; i < 25; i++) C[i] = s[0] * A[i];
}

void ttmul3212_cpu(const float *T, const float *M, float *R)
{
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) {
            float sum = 0.0f;
            for (int l = 0; l < 3; l++) sum += T[i * 3 + l] * M[k * 3 + l];
            R[i * 3 + k] = sum;
        }
}

static void case_cpu(int count, const float *A, const float *T, const float *v, const float *D, const float *E, const float *s, float *B, float *C, float *w, float *U, float *F)
{
    for (int e = 0; e < count; e++) {
        float c_A[9];
        float c_T[27];
        float c_s[1];
        float c_B_2[9];
        float c_w[3];
        float c_U[27];
        float c_F[25];
        float c_B_3[9];
        float c_B_4[9];
        float c_B_5[9];
        float c_B_6[9];
        float c_B_7[9];
        float c_B_8[9];
        float c_B_9[9];
        float c_B_10[9];
        float c_B_11[9];
        float c_B_12[9];
        float c_B_13[9];
        float c_B[9];
        float c_C[9];
        for (int k = 0; k < 9; k++) c_A[k] = A[(size_t)k * count + e];
        for (int k = 0; k < 27; k++) c_T[k] = T[(size_t)k * count + e];
        for (int k = 0; k < 1; k++) c_s[k] = s[(size_t)k * count + e];
        mmul33_cpu(c_A, D + (size_t)e * 9, c_B_2);
        mvmul33_cpu(c_B_2, v + (size_t)e * 3, c_w);
        ttmul3212_cpu(c_T, c_B_2, c_U);
        smmul55_cpu(E + (size_t)e * 25, c_s, c_F);
        memcpy(c_B_3, c_B_2, sizeof c_B_3);
        for (int i1 = 0; i1 < 4; i1++) {
            madd33_cpu(c_B_3, c_A, c_B_4);
            madd33_cpu(c_B_4, c_A, c_B_5);
            madd33_cpu(c_B_5, c_A, c_B_6);
            madd33_cpu(c_B_6, c_A, c_B_7);
            madd33_cpu(c_B_7, c_A, c_B_8);
            madd33_cpu(c_B_8, c_A, c_B_9);
            madd33_cpu(c_B_9, c_A, c_B_10);
            madd33_cpu(c_B_10, c_A, c_B_11);
            madd33_cpu(c_B_11, c_A, c_B_12);
            madd33_cpu(c_B_12, c_A, c_B_13);
            memcpy(c_B_3, c_B_13, sizeof c_B_3);
        }
        memcpy(c_B, c_B_13, sizeof c_B);
        madd33_cpu(c_B, D + (size_t)e * 9, c_C);
        for (int k = 0; k < 9; k++) B[(size_t)k * count + e] = c_B[k];
        for (int k = 0; k < 9; k++) C[(size_t)k * count + e] = c_C[k];
        for (int k = 0; k < 3; k++) w[(size_t)k * count + e] = c_w[k];
        for (int k = 0; k < 27; k++) U[(size_t)k * count + e] = c_U[k];
        for (int k = 0; k < 25; k++) F[(size_t)k * count + e] = c_F[k];
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *A, const float *T, const float *v, const float *D, const float *E, const float *s, float *B, float *C, float *w, float *U, float *F, double *per_second)
{
    cudaError_t error = case_host(count, A, T, v, D, E, s, B, C, w, U, F);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    cudaMemset(device_A, 0, room * 9 * sizeof(float));
    float *device_T = nullptr;
    cudaMalloc((void **)&device_T, room * 27 * sizeof(float));
    cudaMemset(device_T, 0, room * 27 * sizeof(float));
    float *device_v = nullptr;
    cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    cudaMemset(device_v, 0, room * 3 * sizeof(float));
    float *device_D = nullptr;
    cudaMalloc((void **)&device_D, room * 9 * sizeof(float));
    cudaMemset(device_D, 0, room * 9 * sizeof(float));
    float *device_E = nullptr;
    cudaMalloc((void **)&device_E, room * 25 * sizeof(float));
    cudaMemset(device_E, 0, room * 25 * sizeof(float));
    float *device_s = nullptr;
    cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    cudaMemset(device_s, 0, room * 1 * sizeof(float));
    float *device_B = nullptr;
    cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    cudaMemset(device_B, 0, room * 9 * sizeof(float));
    float *device_C = nullptr;
    cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    cudaMemset(device_C, 0, room * 9 * sizeof(float));
    float *device_w = nullptr;
    cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    cudaMemset(device_w, 0, room * 3 * sizeof(float));
    float *device_U = nullptr;
    cudaMalloc((void **)&device_U, room * 27 * sizeof(float));
    cudaMemset(device_U, 0, room * 27 * sizeof(float));
    float *device_F = nullptr;
    cudaMalloc((void **)&device_F, room * 25 * sizeof(float));
    cudaMemset(device_F, 0, room * 25 * sizeof(float));
    cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_T, T, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_D, D, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_E, E, (size_t)count * 25 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_s, s, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_A, device_T, device_v, device_D, device_E, device_s, device_B, device_C, device_w, device_U, device_F, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_A);
    cudaFree(device_T);
    cudaFree(device_v);
    cudaFree(device_D);
    cudaFree(device_E);
    cudaFree(device_s);
    cudaFree(device_B);
    cudaFree(device_C);
    cudaFree(device_w);
    cudaFree(device_U);
    cudaFree(device_F);
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
    float *T = (float *)malloc((size_t)count * 27 * sizeof(float));
    fill(T, (size_t)count * 27);
    float *v = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(v, (size_t)count * 3);
    float *D = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(D, (size_t)count * 9);
    float *E = (float *)malloc((size_t)count * 25 * sizeof(float));
    fill(E, (size_t)count * 25);
    float *s = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(s, (size_t)count * 1);
    float *B = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *C = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *C_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *C_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *C_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *w = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    float *U = (float *)malloc((size_t)count * 27 * sizeof(float));
    float *U_expected = (float *)malloc((size_t)count * 27 * sizeof(float));
    float *U_nudged = (float *)malloc((size_t)count * 27 * sizeof(float));
    float *U_spread = (float *)calloc((size_t)count * 27, sizeof(float));
    float *F = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *F_expected = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *F_nudged = (float *)malloc((size_t)count * 25 * sizeof(float));
    float *F_spread = (float *)calloc((size_t)count * 25, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, A, T, v, D, E, s, B, C, w, U, F, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, A, T, v, D, E, s, B_expected, C_expected, w_expected, U_expected, F_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(A, (size_t)count * 9, round);
        nudge(T, (size_t)count * 27, round);
        nudge(v, (size_t)count * 3, round);
        nudge(D, (size_t)count * 9, round);
        nudge(E, (size_t)count * 25, round);
        nudge(s, (size_t)count * 1, round);
        case_cpu(count, A, T, v, D, E, s, B_nudged, C_nudged, w_nudged, U_nudged, F_nudged);
        widen(B_spread, B_nudged, B_expected, (size_t)count * 9);
        widen(C_spread, C_nudged, C_expected, (size_t)count * 9);
        widen(w_spread, w_nudged, w_expected, (size_t)count * 3);
        widen(U_spread, U_nudged, U_expected, (size_t)count * 27);
        widen(F_spread, F_nudged, F_expected, (size_t)count * 25);
    }
    int differ = 0;
    differ += compare("B", B, B_expected, B_spread, (size_t)count, 9, 1, count);
    differ += compare("C", C, C_expected, C_spread, (size_t)count, 9, 1, count);
    differ += compare("w", w, w_expected, w_spread, (size_t)count, 3, 1, count);
    differ += compare("U", U, U_expected, U_spread, (size_t)count, 27, 1, count);
    differ += compare("F", F, F_expected, F_spread, (size_t)count, 25, 1, count);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 588 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(A);
    free(T);
    free(v);
    free(D);
    free(E);
    free(s);
    free(B);
    free(B_expected);
    free(B_nudged);
    free(B_spread);
    free(C);
    free(C_expected);
    free(C_nudged);
    free(C_spread);
    free(w);
    free(w_expected);
    free(w_nudged);
    free(w_spread);
    free(U);
    free(U_expected);
    free(U_nudged);
    free(U_spread);
    free(F);
    free(F_expected);
    free(F_nudged);
    free(F_spread);
    return differ == 0 ? 0 : 1;
}
