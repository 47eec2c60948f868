// Compares case on the GPU with the same on the CPU: nvcc case_test.cu && ./a.out [count]

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "case.cu"

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

namespace vcross3 {

static float minor2(float a, float b, float c, float d) { return a * d - b * c; }
void vcross3_cpu(const float *u, const float *v, float *w)
{
    w[0] = minor2(u[1], u[2], v[1], v[2]);
    w[1] = minor2(u[2], u[0], v[2], v[0]);
    w[2] = minor2(u[0], u[1], v[0], v[1]);
}

}

void vvmulabs3_cpu(const float *u, const float *v, float *s)
{
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) sum += u[k] * v[k];
    s[0] = fabsf(sum);
}

static void case_cpu(int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out)
{
    for (int e = 0; e < count; e++) {
        float c_c[3];
        float c_d_2[3];
        float c_b_2[3];
        float c_s[1];
        float c_d[3];
        float c_a_out[3];
        vcross3::vcross3_cpu(a + (size_t)e * 3, b + (size_t)e * 3, c_c);
        vcross3::vcross3_cpu(c_c, a + (size_t)e * 3, c_d_2);
        mvmul33_cpu(M + (size_t)e * 9, c_c, c_b_2);
        vvmulabs3_cpu(c_b_2, c_d_2, c_s);
        svmul3_cpu(c_d_2, c_s, c_d);
        vcross3::vcross3_cpu(c_d, c_d, c_a_out);
        memcpy(c + (size_t)e * 3, c_c, sizeof c_c);
        memcpy(d + (size_t)e * 3, c_d, sizeof c_d);
        memcpy(a_out + (size_t)e * 3, c_a_out, sizeof c_a_out);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *a, const float *b, const float *M, float *c, float *d, float *a_out, double *per_second)
{
    cudaError_t error = case_host(count, a, b, M, c, d, a_out);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 68;
    float *device_a = nullptr;
    cudaMalloc((void **)&device_a, room * 3 * sizeof(float));
    cudaMemset(device_a, 0, room * 3 * sizeof(float));
    float *device_b = nullptr;
    cudaMalloc((void **)&device_b, room * 3 * sizeof(float));
    cudaMemset(device_b, 0, room * 3 * sizeof(float));
    float *device_M = nullptr;
    cudaMalloc((void **)&device_M, room * 9 * sizeof(float));
    cudaMemset(device_M, 0, room * 9 * sizeof(float));
    float *device_c = nullptr;
    cudaMalloc((void **)&device_c, room * 3 * sizeof(float));
    cudaMemset(device_c, 0, room * 3 * sizeof(float));
    float *device_d = nullptr;
    cudaMalloc((void **)&device_d, room * 3 * sizeof(float));
    cudaMemset(device_d, 0, room * 3 * sizeof(float));
    float *device_a_out = nullptr;
    cudaMalloc((void **)&device_a_out, room * 3 * sizeof(float));
    cudaMemset(device_a_out, 0, room * 3 * sizeof(float));
    cudaMemcpy(device_a, a, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_b, b, (size_t)count * 3 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_M, M, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_a, device_b, device_M, device_c, device_d, device_a_out, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_a);
    cudaFree(device_b);
    cudaFree(device_M);
    cudaFree(device_c);
    cudaFree(device_d);
    cudaFree(device_a_out);
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
    float *a = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(a, (size_t)count * 3);
    float *b = (float *)malloc((size_t)count * 3 * sizeof(float));
    fill(b, (size_t)count * 3);
    float *M = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(M, (size_t)count * 9);
    float *c = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *c_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *c_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *c_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    float *d = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *d_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *d_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *d_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    float *a_out = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *a_out_expected = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *a_out_nudged = (float *)malloc((size_t)count * 3 * sizeof(float));
    float *a_out_spread = (float *)calloc((size_t)count * 3, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, a, b, M, c, d, a_out, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, a, b, M, c_expected, d_expected, a_out_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(a, (size_t)count * 3, round);
        nudge(b, (size_t)count * 3, round);
        nudge(M, (size_t)count * 9, round);
        case_cpu(count, a, b, M, c_nudged, d_nudged, a_out_nudged);
        widen(c_spread, c_nudged, c_expected, (size_t)count * 3);
        widen(d_spread, d_nudged, d_expected, (size_t)count * 3);
        widen(a_out_spread, a_out_nudged, a_out_expected, (size_t)count * 3);
    }
    int differ = 0;
    differ += compare("c", c, c_expected, c_spread, (size_t)count, 3, 3, 1);
    differ += compare("d", d, d_expected, d_spread, (size_t)count, 3, 3, 1);
    differ += compare("a_out", a_out, a_out_expected, a_out_spread, (size_t)count, 3, 3, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 96 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(a);
    free(b);
    free(M);
    free(c);
    free(c_expected);
    free(c_nudged);
    free(c_spread);
    free(d);
    free(d_expected);
    free(d_nudged);
    free(d_spread);
    free(a_out);
    free(a_out_expected);
    free(a_out_nudged);
    free(a_out_spread);
    return differ == 0 ? 0 : 1;
}
