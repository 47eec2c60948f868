// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.cu"

void qmul_cpu(const float *a, const float *b, float *c) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static void case_cpu(int count, const float *p, const float *q, float *q_out, float *r)
{
    for (int e = 0; e < count; e++) {
        float c_r_2[4];
        float c_r[4];
        float c_q_out[4];
        qmul_cpu(p + (size_t)e * 4, q + (size_t)e * 4, c_r_2);
        qmul_cpu(c_r_2, c_r_2, c_r);
        qmul_cpu(q + (size_t)e * 4, c_r, c_q_out);
        memcpy(q_out + (size_t)e * 4, c_q_out, sizeof c_q_out);
        memcpy(r + (size_t)e * 4, c_r, sizeof c_r);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *p, const float *q, float *q_out, float *r, double *per_second)
{
    cudaError_t error = case_host(count, p, q, q_out, r);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 68;
    float *device_p = nullptr;
    cudaMalloc((void **)&device_p, room * 4 * sizeof(float));
    cudaMemset(device_p, 0, room * 4 * sizeof(float));
    float *device_q = nullptr;
    cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    cudaMemset(device_q, 0, room * 4 * sizeof(float));
    float *device_q_out = nullptr;
    cudaMalloc((void **)&device_q_out, room * 4 * sizeof(float));
    cudaMemset(device_q_out, 0, room * 4 * sizeof(float));
    float *device_r = nullptr;
    cudaMalloc((void **)&device_r, room * 4 * sizeof(float));
    cudaMemset(device_r, 0, room * 4 * sizeof(float));
    cudaMemcpy(device_p, p, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_q, q, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_p, device_q, device_q_out, device_r, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_p);
    cudaFree(device_q);
    cudaFree(device_q_out);
    cudaFree(device_r);
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
    float *p = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(p, (size_t)count * 4);
    float *q = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(q, (size_t)count * 4);
    float *q_out = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *q_out_expected = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *q_out_nudged = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *q_out_spread = (float *)calloc((size_t)count * 4, sizeof(float));
    float *r = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *r_expected = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *r_nudged = (float *)malloc((size_t)count * 4 * sizeof(float));
    float *r_spread = (float *)calloc((size_t)count * 4, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, p, q, q_out, r, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, p, q, q_out_expected, r_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(p, (size_t)count * 4, round);
        nudge(q, (size_t)count * 4, round);
        case_cpu(count, p, q, q_out_nudged, r_nudged);
        widen(q_out_spread, q_out_nudged, q_out_expected, (size_t)count * 4);
        widen(r_spread, r_nudged, r_expected, (size_t)count * 4);
    }
    int differ = 0;
    differ += compare("q_out", q_out, q_out_expected, q_out_spread, (size_t)count, 4, 4, 1);
    differ += compare("r", r, r_expected, r_spread, (size_t)count, 4, 4, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 64 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(p);
    free(q);
    free(q_out);
    free(q_out_expected);
    free(q_out_nudged);
    free(q_out_spread);
    free(r);
    free(r_expected);
    free(r_nudged);
    free(r_spread);
    return differ == 0 ? 0 : 1;
}
