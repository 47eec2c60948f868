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

void mmul33_cpu(const float *A, const float *B, float *C)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 3; k++) sum += A[i * 3 + k] * B[k * 3 + j];
            C[i * 3 + j] = sum;
        }
}

static void case_cpu(int count, const float *begin_2, const float *i1_2, const float *argc_2, float *end_out, float *i1_out, float *unix_out, float *fill_out, float *per_second_out)
{
    for (int e = 0; e < count; e++) {
        float c_end_out[9];
        float c_fill_out[9];
        float c_load_block_2[9];
        float c_k_2[9];
        float c_i1_3[9];
        float c_i1_4[9];
        float c_i1_5[9];
        float c_i1_6[9];
        float c_i1_7[9];
        float c_i1_8[9];
        float c_i1_9[9];
        float c_i1_10[9];
        float c_i1_11[9];
        float c_bytes_9[9];
        float c_i1_out[9];
        float c_bytes_10[9];
        float c_unix_out[9];
        float c_per_second_out[9];
        madd33_cpu(begin_2 + (size_t)e * 9, i1_2 + (size_t)e * 9, c_end_out);
        mmul33_cpu(c_end_out, argc_2 + (size_t)e * 9, c_fill_out);
        madd33_cpu(c_fill_out, c_fill_out, c_load_block_2);
        mmul33_cpu(c_load_block_2, c_end_out, c_k_2);
        memcpy(c_i1_3, i1_2 + (size_t)e * 9, sizeof c_i1_3);
        for (int i1 = 0; i1 < 5; i1++) {
            madd33_cpu(c_i1_3, c_k_2, c_i1_4);
            madd33_cpu(c_i1_4, c_k_2, c_i1_5);
            madd33_cpu(c_i1_5, c_k_2, c_i1_6);
            madd33_cpu(c_i1_6, c_k_2, c_i1_7);
            madd33_cpu(c_i1_7, c_k_2, c_i1_8);
            madd33_cpu(c_i1_8, c_k_2, c_i1_9);
            madd33_cpu(c_i1_9, c_k_2, c_i1_10);
            madd33_cpu(c_i1_10, c_k_2, c_i1_11);
            madd33_cpu(c_i1_11, c_end_out, c_bytes_9);
            memcpy(c_i1_3, c_i1_11, sizeof c_i1_3);
        }
        memcpy(c_i1_out, c_i1_11, sizeof c_i1_out);
        memcpy(c_bytes_10, c_bytes_9, sizeof c_bytes_10);
        madd33_cpu(c_i1_out, c_bytes_10, c_unix_out);
        madd33_cpu(c_unix_out, c_k_2, c_per_second_out);
        memcpy(end_out + (size_t)e * 9, c_end_out, sizeof c_end_out);
        memcpy(i1_out + (size_t)e * 9, c_i1_out, sizeof c_i1_out);
        memcpy(unix_out + (size_t)e * 9, c_unix_out, sizeof c_unix_out);
        memcpy(fill_out + (size_t)e * 9, c_fill_out, sizeof c_fill_out);
        memcpy(per_second_out + (size_t)e * 9, c_per_second_out, sizeof c_per_second_out);
    }
}

// Runs the whole computation with arrays on the host, and says how many elements a second the kernels do.
static cudaError_t case_run(int count, const float *begin_2, const float *i1_2, const float *argc_2, float *end_out, float *i1_out, float *unix_out, float *fill_out, float *per_second_out, double *per_second)
{
    cudaError_t error = case_host(count, begin_2, i1_2, argc_2, end_out, i1_out, unix_out, fill_out, per_second_out);
    if (error != cudaSuccess) return error;
    const size_t room = (size_t)count + 4;
    float *device_begin_2 = nullptr;
    cudaMalloc((void **)&device_begin_2, room * 9 * sizeof(float));
    cudaMemset(device_begin_2, 0, room * 9 * sizeof(float));
    float *device_i1_2 = nullptr;
    cudaMalloc((void **)&device_i1_2, room * 9 * sizeof(float));
    cudaMemset(device_i1_2, 0, room * 9 * sizeof(float));
    float *device_argc_2 = nullptr;
    cudaMalloc((void **)&device_argc_2, room * 9 * sizeof(float));
    cudaMemset(device_argc_2, 0, room * 9 * sizeof(float));
    float *device_end_out = nullptr;
    cudaMalloc((void **)&device_end_out, room * 9 * sizeof(float));
    cudaMemset(device_end_out, 0, room * 9 * sizeof(float));
    float *device_i1_out = nullptr;
    cudaMalloc((void **)&device_i1_out, room * 9 * sizeof(float));
    cudaMemset(device_i1_out, 0, room * 9 * sizeof(float));
    float *device_unix_out = nullptr;
    cudaMalloc((void **)&device_unix_out, room * 9 * sizeof(float));
    cudaMemset(device_unix_out, 0, room * 9 * sizeof(float));
    float *device_fill_out = nullptr;
    cudaMalloc((void **)&device_fill_out, room * 9 * sizeof(float));
    cudaMemset(device_fill_out, 0, room * 9 * sizeof(float));
    float *device_per_second_out = nullptr;
    cudaMalloc((void **)&device_per_second_out, room * 9 * sizeof(float));
    cudaMemset(device_per_second_out, 0, room * 9 * sizeof(float));
    cudaMemcpy(device_begin_2, begin_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_i1_2, i1_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(device_argc_2, argc_2, (size_t)count * 9 * sizeof(float), cudaMemcpyHostToDevice);
    float *workspace = nullptr;
    const size_t bytes = case_workspace(count);
    if (bytes != 0) { cudaMalloc((void **)&workspace, bytes); cudaMemset(workspace, 0, bytes); }
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    float best = 0.0f;
    for (int round = 0; round < 10; round++) {
        cudaEventRecord(begin);
        case_launch(count, device_begin_2, device_i1_2, device_argc_2, device_end_out, device_i1_out, device_unix_out, device_fill_out, device_per_second_out, workspace, 0);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0.0f;
        cudaEventElapsedTime(&ms, begin, end);
        if (round == 0 || ms < best) best = ms;
    }
    *per_second = best > 0.0f ? count / (best * 1e-3) : 0.0;
    cudaFree(device_begin_2);
    cudaFree(device_i1_2);
    cudaFree(device_argc_2);
    cudaFree(device_end_out);
    cudaFree(device_i1_out);
    cudaFree(device_unix_out);
    cudaFree(device_fill_out);
    cudaFree(device_per_second_out);
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
    float *begin_2 = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(begin_2, (size_t)count * 9);
    float *i1_2 = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(i1_2, (size_t)count * 9);
    float *argc_2 = (float *)malloc((size_t)count * 9 * sizeof(float));
    fill(argc_2, (size_t)count * 9);
    float *end_out = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *end_out_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *end_out_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *end_out_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *i1_out = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *i1_out_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *i1_out_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *i1_out_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *unix_out = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *unix_out_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *unix_out_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *unix_out_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *fill_out = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *fill_out_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *fill_out_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *fill_out_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    float *per_second_out = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *per_second_out_expected = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *per_second_out_nudged = (float *)malloc((size_t)count * 9 * sizeof(float));
    float *per_second_out_spread = (float *)calloc((size_t)count * 9, sizeof(float));
    double per_second = 0.0;
    const cudaError_t error = case_run(count, begin_2, i1_2, argc_2, end_out, i1_out, unix_out, fill_out, per_second_out, &per_second);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 2;
    }
    case_cpu(count, begin_2, i1_2, argc_2, end_out_expected, i1_out_expected, unix_out_expected, fill_out_expected, per_second_out_expected);
    for (unsigned round = 0; round < 4; round++) {
        nudge(begin_2, (size_t)count * 9, round);
        nudge(i1_2, (size_t)count * 9, round);
        nudge(argc_2, (size_t)count * 9, round);
        case_cpu(count, begin_2, i1_2, argc_2, end_out_nudged, i1_out_nudged, unix_out_nudged, fill_out_nudged, per_second_out_nudged);
        widen(end_out_spread, end_out_nudged, end_out_expected, (size_t)count * 9);
        widen(i1_out_spread, i1_out_nudged, i1_out_expected, (size_t)count * 9);
        widen(unix_out_spread, unix_out_nudged, unix_out_expected, (size_t)count * 9);
        widen(fill_out_spread, fill_out_nudged, fill_out_expected, (size_t)count * 9);
        widen(per_second_out_spread, per_second_out_nudged, per_second_out_expected, (size_t)count * 9);
    }
    int differ = 0;
    differ += compare("end_out", end_out, end_out_expected, end_out_spread, (size_t)count, 9, 9, 1);
    differ += compare("i1_out", i1_out, i1_out_expected, i1_out_spread, (size_t)count, 9, 9, 1);
    differ += compare("unix_out", unix_out, unix_out_expected, unix_out_spread, (size_t)count, 9, 9, 1);
    differ += compare("fill_out", fill_out, fill_out_expected, fill_out_spread, (size_t)count, 9, 9, 1);
    differ += compare("per_second_out", per_second_out, per_second_out_expected, per_second_out_spread, (size_t)count, 9, 9, 1);
    printf("case: %.1f million elements a second, %.1f GB/s of inputs and outputs\n", per_second * 1e-6, per_second * 288 * 1e-9);
    printf(differ == 0 ? "equal\n" : "different\n");
    free(begin_2);
    free(i1_2);
    free(argc_2);
    free(end_out);
    free(end_out_expected);
    free(end_out_nudged);
    free(end_out_spread);
    free(i1_out);
    free(i1_out_expected);
    free(i1_out_nudged);
    free(i1_out_spread);
    free(unix_out);
    free(unix_out_expected);
    free(unix_out_nudged);
    free(unix_out_spread);
    free(fill_out);
    free(fill_out_expected);
    free(fill_out_nudged);
    free(fill_out_spread);
    free(per_second_out);
    free(per_second_out_expected);
    free(per_second_out_nudged);
    free(per_second_out_spread);
    return differ == 0 ? 0 : 1;
}
