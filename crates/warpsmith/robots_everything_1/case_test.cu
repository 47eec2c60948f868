// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>

#include "case.cu"

void axpby7_cpu(const float *a, const float *x, const float *b, const float *y, float *r)
{
    for (int i = 0; i < 7; i++) r[i] = a[0] * x[i] + b[0] * y[i];
}

#define DET(m) (m[0] * m[3] - m[1] * m[2])
void inv2_cpu(const float *m, float *r)
{
    float d = 1.0f / (DET(m) + 2.0f);
    r[0] = m[3] * d; r[1] = -m[1] * d; r[2] = -m[2] * d; r[3] = m[0] * d;
}

#undef DET
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
extern "C" void mv2_cpu(const float *m, const float *v, float *r)
{
    r[0] = m[0] * v[0] + m[1] * v[1];
    r[1] = m[2] * v[0] + m[3] * v[1];
}

void norm7_cpu(const float *x, float *n)
{
    n[0] = std::sqrt(dotn<7>(x, x));
}

void pick7_cpu(const float *x, const float *w, float *r)
{
    int k = (int)(w[0] * 5.0f) % 7;
    r[0] = x[k < 0 ? 0 : k];
}

void qrot_cpu(const float *q, const float *v, float *r)
{
    const float w = q[0], x = q[1], y = q[2], z = q[3];
    const float t[3] = {2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
    r[0] = v[0] + w * t[0] + (y * t[2] - z * t[1]);
    r[1] = v[1] + w * t[1] + (z * t[0] - x * t[2]);
    r[2] = v[2] + w * t[2] + (x * t[1] - y * t[0]);
}

void sort4_cpu(const float *v, float *r)
{
    for (int i = 0; i < 4; i++) r[i] = v[i];
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (r[j] < r[i]) { float z = r[i]; r[i] = r[j]; r[j] = z; }
}

namespace symv {

static float row(const float *m, const float *v, int i)
{
    return m[host_place[i][0]] * v[0] + m[host_place[i][1]] * v[1] + m[host_place[i][2]] * v[2];
}
void symv_cpu(const float *m, const float *v, float *r)
{
    for (int i = 0; i < 3; i++) r[i] = row(m, v, i);
}

}

static void case_cpu(int count, const float *u, const float *q, const float *S, const float *A, const float *x, const float *v, const float *M, const float *d, float *u_out, float *A_out, float *x_out, float *v_out, float *d_out, float *m)
{
    for (int e = 0; e < count; e++) {
        float c_u_2[3];
        float c_u_out[3];
        float c_A_out[16];
        float c_n[1];
        float c_m[1];
        float c_x_out[7];
        float c_v_out[4];
        float c_M_2[4];
        float c_d_out[2];
        qrot_cpu(q + (size_t)e * 4, u + (size_t)e * 3, c_u_2);
        symv::symv_cpu(S + (size_t)e * 6, c_u_2, c_u_out);
        mul4_cpu(A + (size_t)e * 16, A + (size_t)e * 16, c_A_out);
        norm7_cpu(x + (size_t)e * 7, c_n);
        pick7_cpu(x + (size_t)e * 7, c_n, c_m);
        axpby7_cpu(c_n, x + (size_t)e * 7, c_m, x + (size_t)e * 7, c_x_out);
        sort4_cpu(v + (size_t)e * 4, c_v_out);
        inv2_cpu(M + (size_t)e * 4, c_M_2);
        mv2_cpu(c_M_2, d + (size_t)e * 2, c_d_out);
        memcpy(u_out + (size_t)e * 3, c_u_out, sizeof c_u_out);
        memcpy(A_out + (size_t)e * 16, c_A_out, sizeof c_A_out);
        memcpy(x_out + (size_t)e * 7, c_x_out, sizeof c_x_out);
        memcpy(v_out + (size_t)e * 4, c_v_out, sizeof c_v_out);
        memcpy(d_out + (size_t)e * 2, c_d_out, sizeof c_d_out);
        memcpy(m + (size_t)e * 1, c_m, sizeof c_m);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *u, const float *q, const float *S, const float *A, const float *x, const float *v, const float *M, const float *d, float *u_out, float *A_out, float *x_out, float *v_out, float *d_out, float *m, double *per_second)
{
    cudaError_t error = case_host(count, u, q, S, A, x, v, M, d, u_out, A_out, x_out, v_out, d_out, m);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 100;
    float *device_u = nullptr;
    cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    cudaMemset(device_u, 0, room * 3 * sizeof(float));
    float *device_q = nullptr;
    cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    cudaMemset(device_q, 0, room * 4 * sizeof(float));
    float *device_S = nullptr;
    cudaMalloc((void **)&device_S, room * 6 * sizeof(float));
    cudaMemset(device_S, 0, room * 6 * sizeof(float));
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 16 * sizeof(float));
    cudaMemset(device_A, 0, room * 16 * sizeof(float));
    float *device_x = nullptr;
    cudaMalloc((void **)&device_x, room * 7 * sizeof(float));
    cudaMemset(device_x, 0, room * 7 * sizeof(float));
    float *device_v = nullptr;
    cudaMalloc((void **)&device_v, room * 4 * sizeof(float));
    cudaMemset(device_v, 0, room * 4 * sizeof(float));
    float *device_M = nullptr;
    cudaMalloc((void **)&device_M, room * 4 * sizeof(float));
    cudaMemset(device_M, 0, room * 4 * sizeof(float));
    float *device_d = nullptr;
    cudaMalloc((void **)&device_d, room * 2 * sizeof(float));
    cudaMemset(device_d, 0, room * 2 * sizeof(float));
    float *device_u_out = nullptr;
    cudaMalloc((void **)&device_u_out, room * 3 * sizeof(float));
    cudaMemset(device_u_out, 0, room * 3 * sizeof(float));
    float *device_A_out = nullptr;
    cudaMalloc((void **)&device_A_out, room * 16 * sizeof(float));
    cudaMemset(device_A_out, 0, room * 16 * sizeof(float));
    float *device_x_out = nullptr;
    cudaMalloc((void **)&device_x_out, room * 7 * sizeof(float));
    cudaMemset(device_x_out, 0, room * 7 * sizeof(float));
    float *device_v_out = nullptr;
    cudaMalloc((void **)&device_v_out, room * 4 * sizeof(float));
    cudaMemset(device_v_out, 0, room * 4 * sizeof(float));
    float *device_d_out = nullptr;
    cudaMalloc((void **)&device_d_out, room * 2 * sizeof(float));
    cudaMemset(device_d_out, 0, room * 2 * sizeof(float));
    float *device_m = nullptr;
    cudaMalloc((void **)&device_m, room * 1 * sizeof(float));
    cudaMemset(device_m, 0, room * 1 * sizeof(float));
    cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_q, q, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_S, S, (size_t)count * 6 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_A, A, (size_t)count * 16 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_x, x, (size_t)count * 7 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_v, v, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_M, M, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_d, d, (size_t)count * 2 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_u, device_q, device_S, device_A, device_x, device_v, device_M, device_d, device_u_out, device_A_out, device_x_out, device_v_out, device_d_out, device_m, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_u);
    cudaFree(device_q);
    cudaFree(device_S);
    cudaFree(device_A);
    cudaFree(device_x);
    cudaFree(device_v);
    cudaFree(device_M);
    cudaFree(device_d);
    cudaFree(device_u_out);
    cudaFree(device_A_out);
    cudaFree(device_x_out);
    cudaFree(device_v_out);
    cudaFree(device_d_out);
    cudaFree(device_m);
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
    float *u = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(u, (size_t)count * 3);
    float *q = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(q, (size_t)count * 4);
    float *S = (float *)malloc((size_t)count * 6 * sizeof(float));
    fill(S, (size_t)count * 6);
    float *A = (float *)malloc((size_t)count * 16 * sizeof(float));
    fill(A, (size_t)count * 16);
    float *x = (float *)malloc((size_t)count * 7 * sizeof(float));
    fill(x, (size_t)count * 7);
    float *v = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(v, (size_t)count * 4);
    float *M = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(M, (size_t)count * 4);
    float *d = (float *)malloc((size_t)count * 2 * sizeof(float));
    fill(d, (size_t)count * 2);
    float *u_out = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *u_out_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *u_out_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *u_out_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    float *A_out = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *A_out_expected = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *A_out_nudged = (float *)malloc((size_t)count * 16 * sizeof(float));
    float *A_out_spread = (float *)calloc((size_t)count * 16, sizeof(float));
    float *x_out = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *x_out_expected = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *x_out_nudged = (float *)malloc((size_t)count * 7 * sizeof(float));
    float *x_out_spread = (float *)calloc((size_t)count * 7, sizeof(float));
    float *v_out = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *v_out_expected = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *v_out_nudged = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *v_out_spread = (float *)calloc((size_t)count * 4, sizeof(float));
    float *d_out = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *d_out_expected = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *d_out_nudged = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *d_out_spread = (float *)calloc((size_t)count * 2, sizeof(float));
    float *m = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *m_expected = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *m_nudged = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *m_spread = (float *)calloc((size_t)count * 1, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, u, q, S, A, x, v, M, d, u_out, A_out, x_out, v_out, d_out, m, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, u, q, S, A, x, v, M, d, u_out_expected, A_out_expected, x_out_expected, v_out_expected, d_out_expected, m_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(u, (size_t)count * 3, round);
        nudge(q, (size_t)count * 4, round);
        nudge(S, (size_t)count * 6, round);
        nudge(A, (size_t)count * 16, round);
        nudge(x, (size_t)count * 7, round);
        nudge(v, (size_t)count * 4, round);
        nudge(M, (size_t)count * 4, round);
        nudge(d, (size_t)count * 2, round);
        case_cpu(count, u, q, S, A, x, v, M, d, u_out_nudged, A_out_nudged, x_out_nudged, v_out_nudged, d_out_nudged, m_nudged);
        widen(u_out_spread, u_out_nudged, u_out_expected, (size_t)count * 3);
        widen(A_out_spread, A_out_nudged, A_out_expected, (size_t)count * 16);
        widen(x_out_spread, x_out_nudged, x_out_expected, (size_t)count * 7);
        widen(v_out_spread, v_out_nudged, v_out_expected, (size_t)count * 4);
        widen(d_out_spread, d_out_nudged, d_out_expected, (size_t)count * 2);
        widen(m_spread, m_nudged, m_expected, (size_t)count * 1);
    }
    int differ = 0;
    differ += compare("u_out", u_out, u_out_expected, u_out_spread, (size_t)count, 3, 3, 1);
    differ += compare("A_out", A_out, A_out_expected, A_out_spread, (size_t)count, 16, 16, 1);
    differ += compare("x_out", x_out, x_out_expected, x_out_spread, (size_t)count, 7, 7, 1);
    differ += compare("v_out", v_out, v_out_expected, v_out_spread, (size_t)count, 4, 4, 1);
    differ += compare("d_out", d_out, d_out_expected, d_out_spread, (size_t)count, 2, 2, 1);
    differ += compare("m", m, m_expected, m_spread, (size_t)count, 1, 1, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 316 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(u);
    free(q);
    free(S);
    free(A);
    free(x);
    free(v);
    free(M);
    free(d);
    free(u_out);
    free(u_out_expected);
    free(u_out_nudged);
    free(u_out_spread);
    free(A_out);
    free(A_out_expected);
    free(A_out_nudged);
    free(A_out_spread);
    free(x_out);
    free(x_out_expected);
    free(x_out_nudged);
    free(x_out_spread);
    free(v_out);
    free(v_out_expected);
    free(v_out_nudged);
    free(v_out_spread);
    free(d_out);
    free(d_out_expected);
    free(d_out_nudged);
    free(d_out_spread);
    free(m);
    free(m_expected);
    free(m_nudged);
    free(m_spread);
    return differ == 0 ? 0 : 1;
}
