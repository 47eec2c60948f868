// Compares stvenantinner on the GPU with the same on the CPU: nvcc stvenantinner_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "stvenantinner.cu"

void madd33_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 9; i++) C[i] = A[i] + B[i];
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

void ttmul311_cpu(const float *T, const float *v, float *R)
{
    for (int i = 0; i < 9; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += T[i * 3 + k] * v[k];
        R[i] = sum;
    }
}

void vvmulabs3_cpu(const float *u, const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

static void stvenantinner_cpu(int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w, float *result)
{
    for (int e = 0; e < count; e++) {
        float c_a[9];
        float c_h[3];
        float c_s[1];
        float c_wI[9];
        float c_swI[9];
        float c_wa[9];
        float c_result[9];
        ttmul311_cpu(R + (size_t)e * 27, dPsi + (size_t)e * 3, c_a);
        mvmul33_cpu(S + (size_t)e * 9, dPhi + (size_t)e * 3, c_h);
        vvmulabs3_cpu(c_h, dPsi + (size_t)e * 3, c_s);
        smimul33_cpu(w + (size_t)e * 1, c_wI);
        smmul33_cpu(c_wI, c_s, c_swI);
        smmul33_cpu(c_a, w + (size_t)e * 1, c_wa);
        madd33_cpu(c_swI, c_wa, c_result);
        memcpy(result + (size_t)e * 9, c_result, sizeof c_result);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t stvenantinner_run(int count, const float *R, const float *dPsi, const float *dPhi, const float *S, const float *w, float *result, double *per_second)
{
    cudaError_t error = stvenantinner_host(count, R, dPsi, dPhi, S, w, result);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 36;
    float *device_R = nullptr;
    cudaMalloc((void **)&device_R, room * 27 * sizeof(float));
    cudaMemset(device_R, 0, room * 27 * sizeof(float));
    float *device_dPsi = nullptr;
    cudaMalloc((void **)&device_dPsi, room * 3 * sizeof(float));
    cudaMemset(device_dPsi, 0, room * 3 * sizeof(float));
    float *device_dPhi = nullptr;
    cudaMalloc((void **)&device_dPhi, room * 3 * sizeof(float));
    cudaMemset(device_dPhi, 0, room * 3 * sizeof(float));
    float *device_S = nullptr;
    cudaMalloc((void **)&device_S, room * 9 * sizeof(float));
    cudaMemset(device_S, 0, room * 9 * sizeof(float));
    float *device_w = nullptr;
    cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    cudaMemset(device_w, 0, room * 1 * sizeof(float));
    float *device_result = nullptr;
    cudaMalloc((void **)&device_result, room * 9 * sizeof(float));
    cudaMemset(device_result, 0, room * 9 * sizeof(float));
    cudaMemcpy(device_R, R, (size_t)count * 27 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_dPsi, dPsi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_dPhi, dPhi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_S, S, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = stvenantinner_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        stvenantinner_launch(count, device_R, device_dPsi, device_dPhi, device_S, device_w, device_result, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_R);
    cudaFree(device_dPsi);
    cudaFree(device_dPhi);
    cudaFree(device_S);
    cudaFree(device_w);
    cudaFree(device_result);
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
    float *R = (float *)malloc((size_t)count * 27 * sizeof(float));
    fill(R, (size_t)count * 27);
    float *dPsi = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(dPsi, (size_t)count * 3);
    float *dPhi = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(dPhi, (size_t)count * 3);
    float *S = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(S, (size_t)count * 9);
    float *w = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(w, (size_t)count * 1);
    float *result = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *result_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *result_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *result_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = stvenantinner_run(count, R, dPsi, dPhi, S, w, result, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    stvenantinner_cpu(count, R, dPsi, dPhi, S, w, result_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(R, (size_t)count * 27, round);
        nudge(dPsi, (size_t)count * 3, round);
        nudge(dPhi, (size_t)count * 3, round);
        nudge(S, (size_t)count * 9, round);
        nudge(w, (size_t)count * 1, round);
        stvenantinner_cpu(count, R, dPsi, dPhi, S, w, result_nudged);
        widen(result_spread, result_nudged, result_expected, (size_t)count * 9);
    }
    int differ = 0;
    differ += compare("result", result, result_expected, result_spread, (size_t)count, 9, 9, 1);
    printf("stvenantinner: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 208 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(R);
    free(dPsi);
    free(dPhi);
    free(S);
    free(w);
    free(result);
    free(result_expected);
    free(result_nudged);
    free(result_spread);
    return differ == 0 ? 0 : 1;
}
