// Memory that comes in the order of a stream, from a pool, from a node of a graph and from aligned allocation on the host.
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) check((call), #call, __FILE__, __LINE__)
template <typename T>
void check(T result, const char *what, const char *file, int line)
{
    if (result) {
        fprintf(stderr, "%s:%d: error %u in %s\n", file, line, static_cast<unsigned>(result), what);
        exit(EXIT_FAILURE);
    }
}

__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void squares(const float *in, float *partial, int n)
{
    __shared__ float s[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] * in[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}

__global__ void total(const float *partial, float *out, int m)
{
    float sum = 0.0f;
    for (int i = 0; i < m; i++) sum += partial[i];
    *out = sum;
}

// The sum of two arrays, in memory of a stream and of a pool.
static void by_stream(const float *a, const float *b, float *c, int n)
{
    const size_t bytes = n * sizeof(float);
    cudaStream_t stream;
    cudaMemPool_t pool;
    float *d_a, *d_b, *d_c;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = ULONG_MAX;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, (void *)&threshold));
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMallocAsync((void **)&d_a, bytes, stream));
        CHECK(cudaMallocAsync((void **)&d_b, bytes, stream));
        CHECK(cudaMallocFromPoolAsync((void **)&d_c, bytes, pool, stream));
        CHECK(cudaMemcpyAsync(d_a, a, bytes, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(d_b, b, bytes, cudaMemcpyHostToDevice, stream));
        add<<<(n + 255) / 256, 256, 0, stream>>>(d_a, d_b, d_c, n);
        CHECK(cudaFreeAsync(d_a, stream));
        CHECK(cudaFreeAsync(d_b, stream));
        CHECK(cudaMemcpyAsync(c, d_c, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(d_c, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaStreamDestroy(stream));
}

// The sum of squares, with room for partial sums that a graph allocates.
static float by_graph(const float *h, int n)
{
    int blocks = (n + 255) / 256;
    float *in, *out, result;
    CHECK(cudaMalloc((void **)&in, n * sizeof(float)));
    CHECK(cudaMalloc((void **)&out, sizeof(float)));
    CHECK(cudaMemcpy(in, h, n * sizeof(float), cudaMemcpyHostToDevice));
    cudaGraph_t graph;
    cudaGraphNode_t allocated, first, second, freed;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams room;
    memset(&room, 0, sizeof(room));
    room.bytesize = blocks * sizeof(float);
    room.poolProps.allocType = cudaMemAllocationTypePinned;
    room.poolProps.location.id = 0;
    room.poolProps.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &room));
    float *partial = (float *)room.dptr;
    void *arguments[] = {&in, &partial, &n}, *others[] = {&partial, &out, &blocks};
    cudaKernelNodeParams node = {0};
    node.func = (void *)squares;
    node.gridDim = dim3(blocks);
    node.blockDim = dim3(256);
    node.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&first, graph, &allocated, 1, &node));
    node.func = (void *)total;
    node.gridDim = node.blockDim = dim3(1);
    node.kernelParams = others;
    CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &node));
    CHECK(cudaGraphAddMemFreeNode(&freed, graph, &second, 1, room.dptr));
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaMemcpy(&result, out, sizeof(result), cudaMemcpyDeviceToHost));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return result;
}

int main()
{
    const int n = 1000;
    float *a, *b, *c, sum = 0.0f;
    int status = posix_memalign((void **)&a, 1024, n * sizeof(float));
    status |= posix_memalign((void **)&b, 1024, n * sizeof(float));
    status |= posix_memalign((void **)&c, 1024, n * sizeof(float));
    if (status) return 1;
    for (int i = 0; i < n; i++) {
        a[i] = (i % 10) * 0.5f;
        b[i] = 1.0f;
        sum += a[i] * a[i];
    }
    by_stream(a, b, c, n);
    bool right = fabsf(by_graph(a, n) - sum) < 0.01f;
    for (int i = 0; i < n; i++) right = right && c[i] == a[i] + b[i];
    memcpy(b, a, n * sizeof(float));
    right = right && memcmp(a, b, n * sizeof(float)) == 0;
    printf("%s\n", right ? "PASS" : "FAIL");
    free(a);
    free(b);
    free(c);
    return right ? 0 : 1;
}
