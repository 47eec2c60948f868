// total.cu: CUDA translation of `total` in total.c.
//
// Assumes:
// - array arguments do not overlap
// - the sums in `total` may be added in another order than in C: they were compared within 4 L u
//   times the sum of the absolute values of their terms, L the number of terms, u the unit
//   roundoff; neither a part of them nor a product of their coefficients overflows
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 58 values of n from {0 to 50, 255, 256, 257, 385, 512,
//   98561, 131584}.
// - Every path of it was run.
//
// Made for sm_90.

#include <stdio.h>
#include <stdlib.h>

constexpr int REDUCE_BLOCK = 256;  // threads that combine their values
constexpr int REDUCE_GRID = 256;   // most blocks of a reduction, each with one partial result

__global__ void total_sum_partial(int n, const float *__restrict__ x, float *sum_partial) {
    __shared__ float sum_shared[REDUCE_BLOCK];

    // every thread combines its share of the iterations
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < n;
         i += (long long)gridDim.x * blockDim.x) {
        sum += x[i];
    }

    // the block's values are combined in pairs, in half as many threads each round
    sum_shared[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        if (threadIdx.x < offset) {
            sum_shared[threadIdx.x] += sum_shared[threadIdx.x + offset];
        }
        __syncthreads();
    }

    // one partial result for each block
    if (threadIdx.x == 0) {
        sum_partial[blockIdx.x] = sum_shared[0];
    }
}

__global__ void total_sum_finish(float *total, const float *__restrict__ sum_partial, int blocks) {
    __shared__ float sum_shared[REDUCE_BLOCK];
    float sum_total = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) {
        sum_total += sum_partial[i];
    }

    // the block's values are combined in pairs, in half as many threads each round
    sum_shared[threadIdx.x] = sum_total;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        if (threadIdx.x < offset) {
            sum_shared[threadIdx.x] += sum_shared[threadIdx.x + offset];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *total = sum_shared[0];
    }
}

size_t total_workspace(int n) {
    return 1024;
}

cudaError_t total_launch(int n, const float *x, float *total, void *workspace,
                         cudaStream_t stream) {
    // values that only the device knows live in the workspace
    float *sum_partial = (float *)workspace;
    int blocks = 0;
    if (n > 0) {
        blocks = (n - 1) / REDUCE_BLOCK + 1;
        if (blocks > REDUCE_GRID) {
            blocks = REDUCE_GRID;
        }
        total_sum_partial<<<blocks, REDUCE_BLOCK, 0, stream>>>(n, x, sum_partial);
    }

    // runs for an empty loop too: the result is then the start value
    total_sum_finish<<<1, REDUCE_BLOCK, 0, stream>>>(total, sum_partial, blocks);
    return cudaGetLastError();
}

// Device memory; the first error stays in `status`.
static void *on_device(size_t bytes, cudaError_t *status) {
    void *device = nullptr;
    if (*status == cudaSuccess && bytes > 0) *status = cudaMalloc(&device, bytes);
    return device;
}

// Device memory for an array of the host, with its contents where they are read. A pointer that is
// null stays so, and no other becomes null.
static void *array_on_device(const void *host, size_t bytes, bool read, cudaError_t *status) {
    if (host == nullptr) return nullptr;
    void *device = on_device(bytes > 0 ? bytes : 1, status);
    if (*status == cudaSuccess && bytes > 0 && read) {
        *status = cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
    }
    return device;
}

// As many elements as a size says: none where it is negative.
static size_t extent(long long size) {
    return size > 0 ? size : 0;
}

// What the device has written, where nothing failed before.
static void array_to_host(void *host, const void *device, size_t bytes, cudaError_t *status) {
    if (*status == cudaSuccess && device != nullptr) {
        *status = cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost);
    }
}

// As total in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" void total_host(int n, const float *x, float *total) {
    const size_t x_bytes = sizeof(float) * extent(n);
    const size_t total_bytes = sizeof(float);
    const size_t workspace_bytes = total_workspace(n);
    cudaError_t status = cudaSuccess;
    const float *x_device = (const float *)array_on_device(x, x_bytes, true, &status);
    float *total_device = (float *)array_on_device(total, total_bytes, true, &status);
    void *workspace = on_device(workspace_bytes, &status);
    if (status == cudaSuccess) {
        status = total_launch(n, x_device, total_device, workspace, 0);
    }
    cudaFree((void *)x_device);
    array_to_host(total, total_device, total_bytes, &status);
    cudaFree(total_device);
    cudaFree(workspace);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "total_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
}
