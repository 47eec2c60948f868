// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.cu"

void qrot_cpu(const float *q, const float *v, float *r)
{
    const float w = q[0], x = q[1], y = q[2], z = q[3];
    const float t[3] = {2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
    r[0] = v[0] + w * t[0] + (y * t[2] - z * t[1]);
    r[1] = v[1] + w * t[1] + (z * t[0] - x * t[2]);
    r[2] = v[2] + w * t[2] + (x * t[1] - y * t[0]);
}

static void case_cpu(int count, const float *q, const float *p, const float *v, float *w)
{
    for (int e = 0; e < count; e++) {
        float c_w_2[3];
        float c_w_3[3];
        float c_w[3];
        qrot_cpu(q + (size_t)e * 4, v + (size_t)e * 3, c_w_2);
        qrot_cpu(p + (size_t)e * 4, c_w_2, c_w_3);
        qrot_cpu(q + (size_t)e * 4, c_w_3, c_w);
        memcpy(w + (size_t)e * 3, c_w, sizeof c_w);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *q, const float *p, const float *v, float *w, double *per_second)
{
    cudaError_t error = case_host(count, q, p, v, w);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_q = nullptr;
    cudaMalloc((void **)&device_q, room * 4 * sizeof(float));
    cudaMemset(device_q, 0, room * 4 * sizeof(float));
    float *device_p = nullptr;
    cudaMalloc((void **)&device_p, room * 4 * sizeof(float));
    cudaMemset(device_p, 0, room * 4 * sizeof(float));
    float *device_v = nullptr;
    cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    cudaMemset(device_v, 0, room * 3 * sizeof(float));
    float *device_w = nullptr;
    cudaMalloc((void **)&device_w, room * 3 * sizeof(float));
    cudaMemset(device_w, 0, room * 3 * sizeof(float));
    cudaMemcpy(device_q, q, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_p, p, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
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
        case_launch(count, device_q, device_p, device_v, device_w, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_q);
    cudaFree(device_p);
    cudaFree(device_v);
    cudaFree(device_w);
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
    float *q = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(q, (size_t)count * 4);
    float *p = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(p, (size_t)count * 4);
    float *v = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(v, (size_t)count * 3);
    float *w = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *w_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, q, p, v, w, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, q, p, v, w_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(q, (size_t)count * 4, round);
        nudge(p, (size_t)count * 4, round);
        nudge(v, (size_t)count * 3, round);
        case_cpu(count, q, p, v, w_nudged);
        widen(w_spread, w_nudged, w_expected, (size_t)count * 3);
    }
    int differ = 0;
    differ += compare("w", w, w_expected, w_spread, (size_t)count, 3, 3, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 56 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(q);
    free(p);
    free(v);
    free(w);
    free(w_expected);
    free(w_nudged);
    free(w_spread);
    return differ == 0 ? 0 : 1;
}
