// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>

#include "case.cu"

void axpy3_cpu(const float *a, const float *x, const float *y, float *out) {
    for (int k = 0; k < 3; k++) out[k] = a[0] * x[k] + y[k];
}

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

void mmul44_cpu(const float *a, const float *b, float *c) {
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 4; k++) sum += a[i * 4 + k] * b[k * 4 + j];
            c[i * 4 + j] = sum;
        }
}

void mtrace44_cpu(const float *a, float *t) { *t = a[0] + a[5] + a[10] + a[15]; }

void mtrans33_cpu(const float *a, float *b) {
    for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) b[i * 3 + j] = a[j * 3 + i];
}

void mvmul33_cpu(const float *A, const float *v, float *w)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}

void qmul_cpu(const float *a, const float *b, float *c) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

void smmul33_cpu(const float *A, const float *s, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = s[0] * A[i];
}

void venorm3_cpu(const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += v[k] * v[k];
    s[0] = sqrtf(sum);
}

void vsoft7_cpu(const float *in, float *out) {
    float most = in[0], sum = 0.0f;
    for (int i = 1; i < 7; i++) if (in[i] > most) most = in[i];
    for (int i = 0; i < 7; i++) { out[i] = expf(in[i] - most); sum += out[i]; }
    for (int i = 0; i < 7; i++) out[i] /= sum;
}

static void case_cpu(int count, const float *A, const float *u, const float *a, const float *K, const float *p, const float *s, float *M, float *b, float *L, float *q)
{
    for (int e = 0; e < count; e++) {
        float c_B[9];
        float c_M_2[9];
        float c_M_3[9];
        float c_v[3];
        float c_w[3];
        float c_t[1];
        float c_b[7];
        float c_L[16];
        float c_q[4];
        float c_s_2[1];
        float c_M_4[9];
        float c_M[9];
        minv33_reference::minv33_cpu(A + (size_t)e * 9, c_B);
        mtrans33_cpu(c_B, c_M_2);
        mmul33_cpu(c_M_2, c_B, c_M_3);
        mvmul33_cpu(c_M_3, u + (size_t)e * 3, c_v);
        axpy3_cpu(s + (size_t)e * 1, c_v, u + (size_t)e * 3, c_w);
        venorm3_cpu(c_w, c_t);
        vsoft7_cpu(a + (size_t)e * 7, c_b);
        mmul44_cpu(K + (size_t)e * 16, K + (size_t)e * 16, c_L);
        qmul_cpu(p + (size_t)e * 4, p + (size_t)e * 4, c_q);
        mtrace44_cpu(c_L, c_s_2);
        smmul33_cpu(c_M_3, c_t, c_M_4);
        smmul33_cpu(c_M_4, c_s_2, c_M);
        memcpy(M + (size_t)e * 9, c_M, sizeof c_M);
        memcpy(b + (size_t)e * 7, c_b, sizeof c_b);
        memcpy(L + (size_t)e * 16, c_L, sizeof c_L);
        memcpy(q + (size_t)e * 4, c_q, sizeof c_q);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *A, const float *u, const float *a, const float *K, const float *p, const float *s, float *M, float *b, float *L, float *q, double *per_second)
{
    cudaError_t error = case_host(count, A, u, a, K, p, s, M, b, L, q);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 100;
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    cudaMemset(device_A, 0, room * 9 * sizeof(float));
    float *device_u = nullptr;
    cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    cudaMemset(device_u, 0, room * 3 * sizeof(float));
    float *device_a = nullptr;
    cudaMalloc((void **)&device_a, room * 7 * sizeof(float));
    cudaMemset(device_a, 0, room * 7 * sizeof(float));
    float *device_K = nullptr;
    cudaMalloc((void **)&device_K, room * 16 * sizeof(float));
    cudaMemset(device_K, 0, room * 16 * sizeof(float));
    float *device_p = nullptr;
    cudaMalloc((void **)&device_p, room * 4 * sizeof(float));
    cudaMemset(device_p, 0, room * 4 * sizeof(float));
    float *device_s = nullptr;
    cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    cudaMemset(device_s, 0, room * 1 * sizeof(float));
    float *device_M = nullptr;
    cudaMalloc((void **)&device_M, room * 9 * sizeof(float));
    cudaMemset(device_M, 0, room * 9 * sizeof(float));
    float *device_b = nullptr;
    cudaMalloc((void **)&device_b, room * 7 * sizeof(float));
    cudaMemset(device_b, 0, room * 7 * sizeof(float));
    float *device_L = nullptr;
    cudaMalloc((void **)&device_L, room * 16 * sizeof(float));
    cudaMemset(device_L, 0, room * 16 * sizeof(float));
    float *device_q = nullptr;
    cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    cudaMemset(device_q, 0, room * 4 * sizeof(float));
    cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_a, a, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_K, K, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_p, p, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
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
        case_launch(count, device_A, device_u, device_a, device_K, device_p, device_s, device_M, device_b, device_L, device_q, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_A);
    cudaFree(device_u);
    cudaFree(device_a);
    cudaFree(device_K);
    cudaFree(device_p);
    cudaFree(device_s);
    cudaFree(device_M);
    cudaFree(device_b);
    cudaFree(device_L);
    cudaFree(device_q);
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
    float *u = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(u, (size_t)count * 3);
    float *a = (float *)malloc((size_t)count * 7 * sizeof(float));
    fill(a, (size_t)count * 7);
    float *K = (float *)malloc((size_t)count * 16 * sizeof(float));
    fill(K, (size_t)count * 16);
    float *p = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(p, (size_t)count * 4);
    float *s = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(s, (size_t)count * 1);
    float *M = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *M_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *M_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *M_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *b = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *b_expected = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *b_nudged = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *b_spread = (float *)calloc((size_t)count * 7, sizeof(float));
    float *L = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *L_expected = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *L_nudged = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *L_spread = (float *)calloc((size_t)count * 16, sizeof(float));
    float *q = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *q_expected = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *q_nudged = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *q_spread = (float *)calloc((size_t)count * 4, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, A, u, a, K, p, s, M, b, L, q, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, A, u, a, K, p, s, M_expected, b_expected, L_expected, q_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(A, (size_t)count * 9, round);
        nudge(u, (size_t)count * 3, round);
        nudge(a, (size_t)count * 7, round);
        nudge(K, (size_t)count * 16, round);
        nudge(p, (size_t)count * 4, round);
        nudge(s, (size_t)count * 1, round);
        case_cpu(count, A, u, a, K, p, s, M_nudged, b_nudged, L_nudged, q_nudged);
        widen(M_spread, M_nudged, M_expected, (size_t)count * 9);
        widen(b_spread, b_nudged, b_expected, (size_t)count * 7);
        widen(L_spread, L_nudged, L_expected, (size_t)count * 16);
        widen(q_spread, q_nudged, q_expected, (size_t)count * 4);
    }
    int differ = 0;
    differ += compare("M", M, M_expected, M_spread, (size_t)count, 9, 9, 1);
    differ += compare("b", b, b_expected, b_spread, (size_t)count, 7, 7, 1);
    differ += compare("L", L, L_expected, L_spread, (size_t)count, 16, 16, 1);
    differ += compare("q", q, q_expected, q_spread, (size_t)count, 4, 4, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 304 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(A);
    free(u);
    free(a);
    free(K);
    free(p);
    free(s);
    free(M);
    free(M_expected);
    free(M_nudged);
    free(M_spread);
    free(b);
    free(b_expected);
    free(b_nudged);
    free(b_spread);
    free(L);
    free(L_expected);
    free(L_nudged);
    free(L_spread);
    free(q);
    free(q_expected);
    free(q_nudged);
    free(q_spread);
    return differ == 0 ? 0 : 1;
}
