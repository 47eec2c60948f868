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

void svmul3_cpu(const float *v, const float *s, float *w)
{
    for (int i = 0; i < 3; i++) w[i] = s[0] * v[i];
}

void vvmulabs3_cpu(const float *u, const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

static void case_cpu(int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s, float *B_out, float *v_out, float *C, float *s_out)
{
    for (int e = 0; e < count; e++) {
        float c_B_out[9];
        float c_v_2[3];
        float c_C[9];
        float c_s_out[1];
        float c_v_out[3];
        madd33_cpu(B + (size_t)e * 9, B + (size_t)e * 9, c_B_out);
        svmul3_cpu(u + (size_t)e * 3, s + (size_t)e * 1, c_v_2);
        madd33_cpu(A + (size_t)e * 9, c_B_out, c_C);
        vvmulabs3_cpu(u + (size_t)e * 3, c_v_2, c_s_out);
        svmul3_cpu(c_v_2, r + (size_t)e * 1, c_v_out);
        memcpy(B_out + (size_t)e * 9, c_B_out, sizeof c_B_out);
        memcpy(v_out + (size_t)e * 3, c_v_out, sizeof c_v_out);
        memcpy(C + (size_t)e * 9, c_C, sizeof c_C);
        memcpy(s_out + (size_t)e * 1, c_s_out, sizeof c_s_out);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *A, const float *B, const float *u, const float *v, const float *r, const float *s, float *B_out, float *v_out, float *C, float *s_out, double *per_second)
{
    cudaError_t error = case_host(count, A, B, u, v, r, s, B_out, v_out, C, s_out);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_A = nullptr;
    cudaMalloc((void **)&device_A, room * 9 * sizeof(float));
    cudaMemset(device_A, 0, room * 9 * sizeof(float));
    float *device_B = nullptr;
    cudaMalloc((void **)&device_B, room * 9 * sizeof(float));
    cudaMemset(device_B, 0, room * 9 * sizeof(float));
    float *device_u = nullptr;
    cudaMalloc((void **)&device_u, room * 3 * sizeof(float));
    cudaMemset(device_u, 0, room * 3 * sizeof(float));
    float *device_v = nullptr;
    cudaMalloc((void **)&device_v, room * 3 * sizeof(float));
    cudaMemset(device_v, 0, room * 3 * sizeof(float));
    float *device_r = nullptr;
    cudaMalloc((void **)&device_r, room * 1 * sizeof(float));
    cudaMemset(device_r, 0, room * 1 * sizeof(float));
    float *device_s = nullptr;
    cudaMalloc((void **)&device_s, room * 1 * sizeof(float));
    cudaMemset(device_s, 0, room * 1 * sizeof(float));
    float *device_B_out = nullptr;
    cudaMalloc((void **)&device_B_out, room * 9 * sizeof(float));
    cudaMemset(device_B_out, 0, room * 9 * sizeof(float));
    float *device_v_out = nullptr;
    cudaMalloc((void **)&device_v_out, room * 3 * sizeof(float));
    cudaMemset(device_v_out, 0, room * 3 * sizeof(float));
    float *device_C = nullptr;
    cudaMalloc((void **)&device_C, room * 9 * sizeof(float));
    cudaMemset(device_C, 0, room * 9 * sizeof(float));
    float *device_s_out = nullptr;
    cudaMalloc((void **)&device_s_out, room * 1 * sizeof(float));
    cudaMemset(device_s_out, 0, room * 1 * sizeof(float));
    cudaMemcpy(device_A, A, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_B, B, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_u, u, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_v, v, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_r, r, (size_t)count * 1 * sizeof(float), cudaMemcpyHostToDevice);
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
        case_launch(count, device_A, device_B, device_u, device_v, device_r, device_s, device_B_out, device_v_out, device_C, device_s_out, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_A);
    cudaFree(device_B);
    cudaFree(device_u);
    cudaFree(device_v);
    cudaFree(device_r);
    cudaFree(device_s);
    cudaFree(device_B_out);
    cudaFree(device_v_out);
    cudaFree(device_C);
    cudaFree(device_s_out);
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
    fill(B, (size_t)count * 9);
    float *u = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(u, (size_t)count * 3);
    float *v = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(v, (size_t)count * 3);
    float *r = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(r, (size_t)count * 1);
    float *s = (float *)malloc((size_t)count * 1 * sizeof(float));
    fill(s, (size_t)count * 1);
    float *B_out = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_out_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_out_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *B_out_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *v_out = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *v_out_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *v_out_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *v_out_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    float *C = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *C_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *C_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *C_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *s_out = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *s_out_expected = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *s_out_nudged = (float *)malloc((size_t)count * 1 * sizeof(float));
    float *s_out_spread = (float *)calloc((size_t)count * 1, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, A, B, u, v, r, s, B_out, v_out, C, s_out, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, A, B, u, v, r, s, B_out_expected, v_out_expected, C_expected, s_out_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(A, (size_t)count * 9, round);
        nudge(B, (size_t)count * 9, round);
        nudge(u, (size_t)count * 3, round);
        nudge(v, (size_t)count * 3, round);
        nudge(r, (size_t)count * 1, round);
        nudge(s, (size_t)count * 1, round);
        case_cpu(count, A, B, u, v, r, s, B_out_nudged, v_out_nudged, C_nudged, s_out_nudged);
        widen(B_out_spread, B_out_nudged, B_out_expected, (size_t)count * 9);
        widen(v_out_spread, v_out_nudged, v_out_expected, (size_t)count * 3);
        widen(C_spread, C_nudged, C_expected, (size_t)count * 9);
        widen(s_out_spread, s_out_nudged, s_out_expected, (size_t)count * 1);
    }
    int differ = 0;
    differ += compare("B_out", B_out, B_out_expected, B_out_spread, (size_t)count, 9, 9, 1);
    differ += compare("v_out", v_out, v_out_expected, v_out_spread, (size_t)count, 3, 3, 1);
    differ += compare("C", C, C_expected, C_spread, (size_t)count, 9, 9, 1);
    differ += compare("s_out", s_out, s_out_expected, s_out_spread, (size_t)count, 1, 1, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 192 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(A);
    free(B);
    free(u);
    free(v);
    free(r);
    free(s);
    free(B_out);
    free(B_out_expected);
    free(B_out_nudged);
    free(B_out_spread);
    free(v_out);
    free(v_out_expected);
    free(v_out_nudged);
    free(v_out_spread);
    free(C);
    free(C_expected);
    free(C_nudged);
    free(C_spread);
    free(s_out);
    free(s_out_expected);
    free(s_out_nudged);
    free(s_out_spread);
    return differ == 0 ? 0 : 1;
}
