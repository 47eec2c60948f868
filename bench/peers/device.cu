// What the measurements need of the device, for Python's ctypes: memory, data, time, and the two limits.
// Every function returns a cudaError_t as int and works on the default stream.

#include <cuda_runtime.h>

constexpr size_t FLUSHED_BYTES = 256u << 20;  // more than any L2 cache holds
constexpr int FMA_BLOCK = 256;                // threads of a block of the arithmetic limit
constexpr int FMA_BLOCKS_PER_SM = 8;          // so that all threads of a multiprocessor have work
constexpr int CHAINS = 8;                     // independent sums a thread, to hide their latency

// Uniform in [-1, 1): the same for an index and a seed on every device.
__global__ void fill_kernel(float *x, size_t n, unsigned seed) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned long long bits = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1B54A32D192ED03ull;
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ull;
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBull;
        // 24 bits are what a float holds
        x[i] = (float)(bits >> 40) * (1.0f / (1 << 23)) - 1.0f;
    }
}

__global__ void hold_kernel(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

__global__ void fma_kernel(float *sink, int rounds, float factor, float summand) {
    float sums[CHAINS];
    for (int c = 0; c < CHAINS; ++c) {
        sums[c] = threadIdx.x + c;
    }
#pragma unroll 8
    for (int round = 0; round < rounds; ++round) {
        for (int c = 0; c < CHAINS; ++c) {
            sums[c] = fmaf(sums[c], factor, summand);
        }
    }
    float total = 0.0f;
    for (int c = 0; c < CHAINS; ++c) {
        total += sums[c];
    }
    // never true, but the compiler cannot know, so the sums are not left out
    if (total == -1.0f) *sink = total;
}

extern "C" {

const char *device_error(int code) { return cudaGetErrorString((cudaError_t)code); }

int device_malloc(void **pointer, size_t bytes) { return cudaMalloc(pointer, bytes ? bytes : 1); }

int device_free(void *pointer) { return cudaFree(pointer); }

int device_upload(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}

int device_download(void *to, const void *from, size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

// Bytes of which every float is a NaN: what a kernel leaves unwritten is never taken for a result.
int device_poison(void *pointer, size_t bytes) { return cudaMemset(pointer, 0xFF, bytes); }

int device_fill(float *x, size_t n, unsigned seed) {
    fill_kernel<<<1024, 256>>>(x, n, seed);
    return cudaGetLastError();
}

int device_synchronize() { return cudaDeviceSynchronize(); }

int event_create(void **event) { return cudaEventCreate((cudaEvent_t *)event); }

int event_record(void *event) { return cudaEventRecord((cudaEvent_t)event, 0); }

int event_elapsed(float *milliseconds, void *start, void *stop) {
    const cudaError_t error = cudaEventSynchronize((cudaEvent_t)stop);
    if (error != cudaSuccess) return error;
    return cudaEventElapsedTime(milliseconds, (cudaEvent_t)start, (cudaEvent_t)stop);
}

// Empties the caches of what earlier runs left in them.
int device_flush() {
    static void *waste = nullptr;
    if (!waste) {
        const cudaError_t error = cudaMalloc(&waste, FLUSHED_BYTES);
        if (error != cudaSuccess) return error;
    }
    return cudaMemsetAsync(waste, 0, FLUSHED_BYTES, 0);
}

// Keeps the device busy while the host prepares what is measured next, so that launching costs nothing.
int device_hold(long long cycles) {
    hold_kernel<<<1, 1>>>(cycles);
    return cudaGetLastError();
}

int device_copy(void *to, const void *from, size_t bytes) {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0);
}

// Multiply-adds at the highest rate there is; *operations is how many they were, two for each.
int device_fma(float *sink, int rounds, double *operations) {
    static int processors = 0;
    if (!processors) {
        int device = 0;
        cudaError_t error = cudaGetDevice(&device);
        if (error != cudaSuccess) return error;
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        if (error != cudaSuccess) return error;
    }
    const int blocks = processors * FMA_BLOCKS_PER_SM;
    *operations = 2.0 * blocks * FMA_BLOCK * CHAINS * rounds;
    fma_kernel<<<blocks, FMA_BLOCK>>>(sink, rounds, 0.5f, 1.0f);
    return cudaGetLastError();
}

}  // extern "C"
