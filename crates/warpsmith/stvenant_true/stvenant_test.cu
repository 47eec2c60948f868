// Compares stvenant on the GPU with the same on the CPU: nvcc stvenant_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "stvenant.cu"

void mvmul33_cpu(const float *A, const float *v, float *w)
{
    for (int i = 0; i < 3; i++) {
        float sum = 0.0f;
        for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * v[k];
        w[i] = sum;
    }
}

void svmul3_cpu(const float *v, const float *s, float *w)
{
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
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

void ttmul411_cpu(const float *T, const float *v, float *R)
{
    for (int i = 0; i < 27; i++) {
        float sum = 0.0f;
        for (int l = 0; l < 3; l++) sum += T[i * 3 + l] * v[l];
        R[i] = sum;
    }
}

static void stvenant_cpu(int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R, float *v)
{
    for (int e = 0; e < count; e++) {
        float c_Hd[3];
        float c_v[3];
        float c_R3[27];
        float c_R[27];
        mvmul33_cpu(H + (size_t)e * 9, dPhi + (size_t)e * 3, c_Hd);
        svmul3_cpu(c_Hd, w + (size_t)e * 1, c_v);
        ttmul411_cpu(T4 + (size_t)e * 81, c_v, c_R3);
        ttmul3212_cpu(c_R3, F + (size_t)e * 9, c_R);
        memcpy(R + (size_t)e * 27, c_R, sizeof c_R);
        memcpy(v + (size_t)e * 3, c_v, sizeof c_v);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t stvenant_run(int count, const float *T4, const float *F, const float *dPhi, const float *H, const float *w, float *R, float *v, double *per_second)
{
    cudaError_t error = stvenant_host(count, T4, F, dPhi, H, w, R, v);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 68;
    float *device_T4 = nullptr;
    cudaMalloc((void **)&device_T4, room * 81 * sizeof(float));
    cudaMemset(device_T4, 0, room * 81 * sizeof(float));
    float *device_F = nullptr;
    cudaMalloc((void **)&device_F, room * 9 * sizeof(float));
    cudaMemset(device_F, 0, room * 9 * sizeof(float));
    float *device_dPhi = nullptr;
    cudaMalloc((void **)&device_dPhi, room * 3 * sizeof(float));
    cudaMemset(device_dPhi, 0, room * 3 * sizeof(float));
    float *device_H = nullptr;
    cudaMalloc((void **)&device_H, room * 9 * sizeof(float));
    cudaMemset(device_H, 0, room * 9 * sizeof(float));
    float *device_w = nullptr;
    cudaMalloc((void **)&device_w, room * 1 * sizeof(float));
    cudaMemset(device_w, 0, room * 1 * sizeof(float));
    float *device_R = nullptr;
    cudaMalloc((void **)&device_R, room * 27 * sizeof(float));
    cudaMemset(device_R, 0, room * 27 * sizeof(float));
    float *device_v = nullptr;
    cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    cudaMemset(device_v, 0, room * 3 * sizeof(float));
    cudaMemcpy(device_T4, T4, (size_t)count * 81 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_F, F, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_dPhi, dPhi, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_H, H, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_w, w, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = stvenant_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        stvenant_launch(count, device_T4, device_F, device_dPhi, device_H, device_w, device_R, device_v, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_T4);
    cudaFree(device_F);
    cudaFree(device_dPhi);
    cudaFree(device_H);
    cudaFree(device_w);
    cudaFree(device_R);
    cudaFree(device_v);
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
    float *T4 = (float *)malloc((size_t)count * 81 * sizeof(float));
    fill(T4, (size_t)count * 81);
    float *F = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(F, (size_t)count * 9);
    float *dPhi = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(dPhi, (size_t)count * 3);
    float *H = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(H, (size_t)count * 9);
    float *w = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(w, (size_t)count * 1);
    float *R = (float *)malloc((size_t)count * 27 * sizeof(float));
    float *R_expected = (float *)malloc((size_t)count * 27 * sizeof(float));
    float *R_nudged = (float *)malloc((size_t)count * 27 * sizeof(float));
    float *R_spread = (float *)calloc((size_t)count * 27, sizeof(float));
    float *v = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *v_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *v_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *v_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = stvenant_run(count, T4, F, dPhi, H, w, R, v, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    stvenant_cpu(count, T4, F, dPhi, H, w, R_expected, v_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(T4, (size_t)count * 81, round);
        nudge(F, (size_t)count * 9, round);
        nudge(dPhi, (size_t)count * 3, round);
        nudge(H, (size_t)count * 9, round);
        nudge(w, (size_t)count * 1, round);
        stvenant_cpu(count, T4, F, dPhi, H, w, R_nudged, v_nudged);
        widen(R_spread, R_nudged, R_expected, (size_t)count * 27);
        widen(v_spread, v_nudged, v_expected, (size_t)count * 3);
    }
    int differ = 0;
    differ += compare("R", R, R_expected, R_spread, (size_t)count, 27, 27, 1);
    differ += compare("v", v, v_expected, v_spread, (size_t)count, 3, 3, 1);
    printf("stvenant: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 532 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(T4);
    free(F);
    free(dPhi);
    free(H);
    free(w);
    free(R);
    free(R_expected);
    free(R_nudged);
    free(R_spread);
    free(v);
    free(v_expected);
    free(v_nudged);
    free(v_spread);
    return differ == 0 ? 0 : 1;
}
