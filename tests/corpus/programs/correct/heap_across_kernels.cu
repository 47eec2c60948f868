// Memory of the device's heap that one kernel allocates, others use and the last one frees, while the host allocates, too;
// values in parentheses make objects zero.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t status = (call);                                                     \
        if (status != cudaSuccess) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

struct Bucket {
    int count;
    int *values;
};

__device__ Bucket *buckets;

__global__ void make(int n, int room)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        buckets = new Bucket[n]();
        for (int i = 0; i < n; i++) buckets[i].values = (int *)malloc(room * sizeof(int));
    }
}

__global__ void insert(const int *keys, int count, int n, int room)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Bucket *b = &buckets[keys[i] % n];
    const int at = atomicAdd(&b->count, 1);
    if (at < room) b->values[at] = keys[i];
}

__global__ void sums(int *out, int n)
{
    const int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n) return;
    int *sum = new int();
    for (int k = 0; k < buckets[b].count; k++) *sum += buckets[b].values[k];
    out[b] = *sum;
    delete sum;
}

__global__ void drop(int n)
{
    const int i = threadIdx.x;
    if (i < n) free(buckets[i].values);
    __syncthreads();
    if (i == 0) delete[] buckets;
}

int main()
{
    const int count = 500, n = 16, room = 64;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    int *keys = (int *)malloc(count * sizeof(int));
    for (int i = 0; i < count; i++) keys[i] = (i * 37) % 1000;
    make<<<1, 32>>>(n, room);
    int *d_keys, *d_out;
    CHECK(cudaMalloc(&d_keys, count * sizeof(int)));
    CHECK(cudaMemcpy(d_keys, keys, count * sizeof(int), cudaMemcpyHostToDevice));
    insert<<<(count + 127) / 128, 128>>>(d_keys, count, n, room);
    CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    sums<<<1, 32>>>(d_out, n);
    drop<<<1, 32>>>(n);
    CHECK(cudaDeviceSynchronize());
    int out[n], total = 0, wanted = 0;
    CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) total += out[i];
    for (int i = 0; i < count; i++) wanted += keys[i];
    printf("%s\n", total == wanted ? "PASS" : "FAIL");
    cudaFree(d_keys);
    cudaFree(d_out);
    free(keys);
    return total == wanted ? 0 : 1;
}
