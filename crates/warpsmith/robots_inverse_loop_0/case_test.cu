// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.cu"

#define DET(m) (m[0] * m[3] - m[1] * m[2])
void inv2_cpu(const float *m, float *r)
{
    float d = 1.0f / (DET(m) + 2.0f);
    r[0] = m[3] * d; r[1] = -m[1] * d; r[2] = -m[2] * d; r[3] = m[0] * d;
}

#undef DET
extern "C" void mv2_cpu(const float *m, const float *v, float *r)
{
    r[0] = m[0] * v[0] + m[1] * v[1];
    r[1] = m[2] * v[0] + m[3] * v[1];
}

static void case_cpu(int count, const float *M, const float *v, float *u, float *v_out)
{
    for (int e = 0; e < count; e++) {
        float c_N[4];
        float c_u_2[2];
        float c_u_3[2];
        float c_u_4[2];
        float c_u_5[2];
        float c_u_6[2];
        float c_u_7[2];
        float c_u_8[2];
        float c_u_9[2];
        float c_u_10[2];
        float c_u_11[2];
        float c_u_12[2];
        float c_u_13[2];
        float c_u_14[2];
        float c_u_15[2];
        float c_u[2];
        float c_v_out[2];
        inv2_cpu(M + (size_t)e * 4, c_N);
        mv2_cpu(c_N, v + (size_t)e * 2, c_u_2);
        mv2_cpu(M + (size_t)e * 4, c_u_2, c_u_3);
        memcpy(c_u_4, c_u_3, sizeof c_u_4);
        for (int i1 = 0; i1 < 1; i1++) {
            mv2_cpu(c_N, c_u_4, c_u_5);
            mv2_cpu(c_N, c_u_5, c_u_6);
            mv2_cpu(c_N, c_u_6, c_u_7);
            mv2_cpu(c_N, c_u_7, c_u_8);
            mv2_cpu(c_N, c_u_8, c_u_9);
            mv2_cpu(c_N, c_u_9, c_u_10);
            mv2_cpu(c_N, c_u_10, c_u_11);
            mv2_cpu(c_N, c_u_11, c_u_12);
            memcpy(c_u_4, c_u_12, sizeof c_u_4);
        }
        memcpy(c_u_13, c_u_12, sizeof c_u_13);
        mv2_cpu(c_N, c_u_13, c_u_14);
        mv2_cpu(c_N, c_u_14, c_u_15);
        mv2_cpu(c_N, c_u_15, c_u);
        mv2_cpu(M + (size_t)e * 4, c_u, c_v_out);
        memcpy(u + (size_t)e * 2, c_u, sizeof c_u);
        memcpy(v_out + (size_t)e * 2, c_v_out, sizeof c_v_out);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *M, const float *v, float *u, float *v_out, double *per_second)
{
    cudaError_t error = case_host(count, M, v, u, v_out);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_M = nullptr;
    cudaMalloc((void **)&device_M, room * 4 * sizeof(float));
    cudaMemset(device_M, 0, room * 4 * sizeof(float));
    float *device_v = nullptr;
    cudaMalloc((void **)&device_v, room * 2 * sizeof(float));
    cudaMemset(device_v, 0, room * 2 * sizeof(float));
    float *device_u = nullptr;
    cudaMalloc((void **)&device_u, room * 2 * sizeof(float));
    cudaMemset(device_u, 0, room * 2 * sizeof(float));
    float *device_v_out = nullptr;
    cudaMalloc((void **)&device_v_out, room * 2 * sizeof(float));
    cudaMemset(device_v_out, 0, room * 2 * sizeof(float));
    cudaMemcpy(device_M, M, (size_t)count * 4 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_v, v, (size_t)count * 2 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_M, device_v, device_u, device_v_out, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_M);
    cudaFree(device_v);
    cudaFree(device_u);
    cudaFree(device_v_out);
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
    float *M = (float *)malloc((size_t)count * 4 * sizeof(float));
    fill(M, (size_t)count * 4);
    float *v = (float *)malloc((size_t)count * 2 * sizeof(float));
    fill(v, (size_t)count * 2);
    float *u = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *u_expected = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *u_nudged = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *u_spread = (float *)calloc((size_t)count * 2, sizeof(float));
    float *v_out = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *v_out_expected = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *v_out_nudged = (float *)malloc((size_t)count * 2 * sizeof(float));
    float *v_out_spread = (float *)calloc((size_t)count * 2, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, M, v, u, v_out, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, M, v, u_expected, v_out_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(M, (size_t)count * 4, round);
        nudge(v, (size_t)count * 2, round);
        case_cpu(count, M, v, u_nudged, v_out_nudged);
        widen(u_spread, u_nudged, u_expected, (size_t)count * 2);
        widen(v_out_spread, v_out_nudged, v_out_expected, (size_t)count * 2);
    }
    int differ = 0;
    differ += compare("u", u, u_expected, u_spread, (size_t)count, 2, 2, 1);
    differ += compare("v_out", v_out, v_out_expected, v_out_spread, (size_t)count, 2, 2, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 40 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(M);
    free(v);
    free(u);
    free(u_expected);
    free(u_nudged);
    free(u_spread);
    free(v_out);
    free(v_out_expected);
    free(v_out_nudged);
    free(v_out_spread);
    return differ == 0 ? 0 : 1;
}
