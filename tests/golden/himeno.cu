// himeno.cu: CUDA translation of `himeno` in himeno.c.
//
// Assumes:
// - array arguments do not overlap
// - the sums in `result` may be added in another order than in C: they were compared within 4 L u
//   times the sum of the absolute values of their terms, L the number of terms, u the unit
//   roundoff; neither a part of them nor a product of their coefficients overflows
//
// Verified:
// - Level: checked. This text was emulated, with every check on, and compared with the C function,
//   by its compiler and by an interpreter at 67 combinations of imax, jmax, kmax from {0 to 8, 10,
//   31 to 35, 37, 49, 64, 66, 255 to 259}.
// - Every path of it was run.
//
// Made for sm_90.

#include <stdio.h>
#include <stdlib.h>

constexpr int REDUCE_BLOCK = 256;  // threads that combine their values
constexpr int REDUCE_GRID = 256;   // most blocks of a reduction, each with one partial result
constexpr int BX = 32;             // threads of a block along x
constexpr int BY = 4;              // threads of a block along y
constexpr int BZ = 2;              // threads of a block along z
constexpr int MAX_BLOCKS = 65535;  // blocks of a grid along y or z

__global__ void himeno_gosa_partial(int imax, int jmax, int kmax, float omega,
                                    const float *__restrict__ a0, const float *__restrict__ a1,
                                    const float *__restrict__ a2, const float *__restrict__ a3,
                                    const float *__restrict__ b0, const float *__restrict__ b1,
                                    const float *__restrict__ b2, const float *__restrict__ c0,
                                    const float *__restrict__ c1, const float *__restrict__ c2,
                                    const float *__restrict__ wrk1, const float *__restrict__ bnd,
                                    const float *__restrict__ p, float *wrk2, float *gosa_partial) {
    __shared__ float gosa_shared[REDUCE_BLOCK];

    // every thread combines its share of the iterations
    float gosa = 0.0f;
    const long long iterations = (long long)(imax - 2) * (jmax - 2) * (kmax - 2);
    for (long long iteration = (long long)blockIdx.x * blockDim.x + threadIdx.x;
         iteration < iterations;
         iteration += (long long)gridDim.x * blockDim.x) {
        const int k = 1 + (int)(iteration % (kmax - 2));
        const long long row = iteration / (kmax - 2);
        const int j = 1 + (int)(row % (jmax - 2));
        const int i = 1 + (int)(row / (jmax - 2));
        const float s0 = a0[((size_t)i * jmax + j) * kmax + k] *
                         p[((size_t)(i + 1) * jmax + j) * kmax + k] +
                         a1[((size_t)i * jmax + j) * kmax + k] *
                         p[((size_t)i * jmax + j + 1) * kmax + k] +
                         a2[((size_t)i * jmax + j) * kmax + k] *
                         p[((size_t)i * jmax + j) * kmax + k + 1] +
                         b0[((size_t)i * jmax + j) * kmax + k] *
                         (p[((size_t)(i + 1) * jmax + j + 1) * kmax + k] -
                          p[((size_t)(i + 1) * jmax + j - 1) * kmax + k] -
                          p[((size_t)(i - 1) * jmax + j + 1) * kmax + k] +
                          p[((size_t)(i - 1) * jmax + j - 1) * kmax + k]) +
                         b1[((size_t)i * jmax + j) * kmax + k] *
                         (p[((size_t)i * jmax + j + 1) * kmax + k + 1] -
                          p[((size_t)i * jmax + j - 1) * kmax + k + 1] -
                          p[((size_t)i * jmax + j + 1) * kmax + k - 1] +
                          p[((size_t)i * jmax + j - 1) * kmax + k - 1]) +
                         b2[((size_t)i * jmax + j) * kmax + k] *
                         (p[((size_t)(i + 1) * jmax + j) * kmax + k + 1] -
                          p[((size_t)(i - 1) * jmax + j) * kmax + k + 1] -
                          p[((size_t)(i + 1) * jmax + j) * kmax + k - 1] +
                          p[((size_t)(i - 1) * jmax + j) * kmax + k - 1]) +
                         c0[((size_t)i * jmax + j) * kmax + k] *
                         p[((size_t)(i - 1) * jmax + j) * kmax + k] +
                         c1[((size_t)i * jmax + j) * kmax + k] *
                         p[((size_t)i * jmax + j - 1) * kmax + k] +
                         c2[((size_t)i * jmax + j) * kmax + k] *
                         p[((size_t)i * jmax + j) * kmax + k - 1] +
                         wrk1[((size_t)i * jmax + j) * kmax + k];
        const float ss = (s0 * a3[((size_t)i * jmax + j) * kmax + k] -
                          p[((size_t)i * jmax + j) * kmax + k]) *
                         bnd[((size_t)i * jmax + j) * kmax + k];
        gosa += ss * ss;
        wrk2[((size_t)i * jmax + j) * kmax + k] = p[((size_t)i * jmax + j) * kmax + k] + omega * ss;
    }

    // the block's values are combined in pairs, in half as many threads each round
    gosa_shared[threadIdx.x] = gosa;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        if (threadIdx.x < offset) {
            gosa_shared[threadIdx.x] += gosa_shared[threadIdx.x + offset];
        }
        __syncthreads();
    }

    // one partial result for each block
    if (threadIdx.x == 0) {
        gosa_partial[blockIdx.x] = gosa_shared[0];
    }
}

__global__ void himeno_gosa_finish(float *result, const float *__restrict__ gosa_partial,
                                   int blocks) {
    __shared__ float gosa_shared[REDUCE_BLOCK];
    float gosa_total = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += blockDim.x) {
        gosa_total += gosa_partial[i];
    }

    // the block's values are combined in pairs, in half as many threads each round
    gosa_shared[threadIdx.x] = gosa_total;
    __syncthreads();
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        if (threadIdx.x < offset) {
            gosa_shared[threadIdx.x] += gosa_shared[threadIdx.x + offset];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *result = gosa_shared[0];
    }
}

__global__ void himeno_p(int imax, int jmax, int kmax, float *p, const float *__restrict__ wrk2) {
    const int k = 1 + (int)(blockIdx.x * blockDim.x + threadIdx.x);

    // the grid is rounded up to whole blocks: threads past the end have no element
    if (k < 1 || k >= kmax - 1) return;

    // a grid has at most 65535 blocks along z: go on in its strides
    for (long long i = 1 + ((long long)blockIdx.z * blockDim.z + threadIdx.z);
         i < imax - 1;
         i += (long long)gridDim.z * blockDim.z) {
        // a grid has at most 65535 blocks along y: go on in its strides
        for (long long j = 1 + ((long long)blockIdx.y * blockDim.y + threadIdx.y);
             j < jmax - 1;
             j += (long long)gridDim.y * blockDim.y) {
            p[(i * jmax + j) * kmax + k] = wrk2[(i * jmax + j) * kmax + k];
        }
    }
}

size_t himeno_workspace(int imax, int jmax, int kmax, float omega) {
    return 1024;
}

cudaError_t himeno_launch(int imax, int jmax, int kmax, float omega, const float *a0,
                          const float *a1, const float *a2, const float *a3, const float *b0,
                          const float *b1, const float *b2, const float *c0, const float *c1,
                          const float *c2, const float *wrk1, const float *bnd, float *p,
                          float *wrk2, float *result, void *workspace, cudaStream_t stream) {
    // values that only the device knows live in the workspace
    float *gosa_partial = (float *)workspace;
    int blocks = 0;
    if (imax > 2 && jmax > 2 && kmax > 2) {
        const long long iterations = (long long)(imax - 2) * (jmax - 2) * (kmax - 2);
        const long long wanted = (iterations - 1) / REDUCE_BLOCK + 1;
        blocks = wanted < REDUCE_GRID ? (int)wanted : REDUCE_GRID;
        himeno_gosa_partial<<<blocks, REDUCE_BLOCK, 0, stream>>>(imax, jmax, kmax, omega, a0, a1,
                                                                 a2, a3, b0, b1, b2, c0, c1, c2,
                                                                 wrk1, bnd, p, wrk2, gosa_partial);
    }

    // runs for an empty loop too: the result is then the start value
    himeno_gosa_finish<<<1, REDUCE_BLOCK, 0, stream>>>(result, gosa_partial, blocks);
    if (imax > 2 && jmax > 2 && kmax > 2) {
        int blocks_z = (imax - 3) / BZ + 1;
        if (blocks_z > MAX_BLOCKS) {
            blocks_z = MAX_BLOCKS;
        }
        int blocks_y = (jmax - 3) / BY + 1;
        if (blocks_y > MAX_BLOCKS) {
            blocks_y = MAX_BLOCKS;
        }
        const dim3 block(BX, BY, BZ);
        const dim3 grid((kmax - 3) / BX + 1, blocks_y, blocks_z);
        himeno_p<<<grid, block, 0, stream>>>(imax, jmax, kmax, p, wrk2);
    }
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

// As himeno in C, on arrays of the host: allocates, copies, launches, waits, copies back and frees.
extern "C" float himeno_host(int imax, int jmax, int kmax, float omega, const float *a0,
                             const float *a1, const float *a2, const float *a3, const float *b0,
                             const float *b1, const float *b2, const float *c0, const float *c1,
                             const float *c2, const float *wrk1, const float *bnd, float *p,
                             float *wrk2) {
    const size_t a0_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t a1_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t a2_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t a3_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t b0_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t b1_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t b2_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t c0_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t c1_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t c2_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t wrk1_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t bnd_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t p_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t wrk2_bytes = sizeof(float) * extent(imax) * extent(jmax) * extent(kmax);
    const size_t workspace_bytes = himeno_workspace(imax, jmax, kmax, omega);
    cudaError_t status = cudaSuccess;
    const float *a0_device = (const float *)array_on_device(a0, a0_bytes, true, &status);
    const float *a1_device = (const float *)array_on_device(a1, a1_bytes, true, &status);
    const float *a2_device = (const float *)array_on_device(a2, a2_bytes, true, &status);
    const float *a3_device = (const float *)array_on_device(a3, a3_bytes, true, &status);
    const float *b0_device = (const float *)array_on_device(b0, b0_bytes, true, &status);
    const float *b1_device = (const float *)array_on_device(b1, b1_bytes, true, &status);
    const float *b2_device = (const float *)array_on_device(b2, b2_bytes, true, &status);
    const float *c0_device = (const float *)array_on_device(c0, c0_bytes, true, &status);
    const float *c1_device = (const float *)array_on_device(c1, c1_bytes, true, &status);
    const float *c2_device = (const float *)array_on_device(c2, c2_bytes, true, &status);
    const float *wrk1_device = (const float *)array_on_device(wrk1, wrk1_bytes, true, &status);
    const float *bnd_device = (const float *)array_on_device(bnd, bnd_bytes, true, &status);
    float *p_device = (float *)array_on_device(p, p_bytes, true, &status);
    float *wrk2_device = (float *)array_on_device(wrk2, wrk2_bytes, true, &status);
    float returned = 0;
    float *result = (float *)on_device(sizeof(float), &status);
    void *workspace = on_device(workspace_bytes, &status);
    if (status == cudaSuccess) {
        status = himeno_launch(imax, jmax, kmax, omega, a0_device, a1_device, a2_device, a3_device,
                               b0_device, b1_device, b2_device, c0_device, c1_device, c2_device,
                               wrk1_device, bnd_device, p_device, wrk2_device, result, workspace,
                               0);
    }
    cudaFree((void *)a0_device);
    cudaFree((void *)a1_device);
    cudaFree((void *)a2_device);
    cudaFree((void *)a3_device);
    cudaFree((void *)b0_device);
    cudaFree((void *)b1_device);
    cudaFree((void *)b2_device);
    cudaFree((void *)c0_device);
    cudaFree((void *)c1_device);
    cudaFree((void *)c2_device);
    cudaFree((void *)wrk1_device);
    cudaFree((void *)bnd_device);
    array_to_host(p, p_device, p_bytes, &status);
    cudaFree(p_device);
    array_to_host(wrk2, wrk2_device, wrk2_bytes, &status);
    cudaFree(wrk2_device);
    array_to_host(&returned, result, sizeof(float), &status);
    cudaFree(result);
    cudaFree(workspace);
    if (status != cudaSuccess) {
        // The C function cannot fail, so that its callers do not ask.
        fprintf(stderr, "himeno_host: %s\n", cudaGetErrorString(status));
        exit(EXIT_FAILURE);
    }
    return returned;
}
