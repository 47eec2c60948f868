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

static void case_cpu(int count, const float *A, float *B)
{
    for (int e = 0; e < count; e++) {
        float c_B_2[9];
        float c_B_3[9];
        float c_B_4[9];
        float c_B_5[9];
        float c_B_6[9];
        float c_B_7[9];
        float c_B_8[9];
        float c_B[9];
        madd33_cpu(A + (size_t)e * 9, A + (size_t)e * 9, c_B_2);
        madd33_cpu(c_B_2, A + (size_t)e * 9, c_B_3);
        madd33_cpu(c_B_3, A + (size_t)e * 9, c_B_4);
        madd33_cpu(c_B_4, A + (size_t)e * 9, c_B_5);
        madd33_cpu(c_B_5, A + (size_t)e * 9, c_B_6);
        madd33_cpu(c_B_6, A + (size_t)e * 9, c_B_7);
        madd33_cpu(c_B_7, A + (size_t)e * 9, c_B_8);
        madd33_cpu(c_B_8, A + (size_t)e * 9, c_B);
        memcpy(B + (size_t)e * 9, c_B, sizeof c_B);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *A, float *B, double *per_second)
{
    cudaError_t error = case_host(count, A, B);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    cudaMemset(device_A, 0, room * 9 * sizeof(float));
    float *device_B = nullptr;
    cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    cudaMemset(device_B, 0, room * 9 * sizeof(float));
    cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_A, device_B, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_A);
    cudaFree(device_B);
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
    float *B = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, A, B, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, A, B_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(A, (size_t)count * 9, round);
        case_cpu(count, A, B_nudged);
        widen(B_spread, B_nudged, B_expected, (size_t)count * 9);
    }
    int differ = 0;
    differ += compare("B", B, B_expected, B_spread, (size_t)count, 9, 9, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 72 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(A);
    free(B);
    free(B_expected);
    free(B_nudged);
    free(B_spread);
    return differ == 0 ? 0 : 1;
}
