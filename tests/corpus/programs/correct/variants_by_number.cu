// A benchmark whose first argument is an index into a table of sizes and whose second one chooses a variant; its messages are texts
// that C takes for `char *`, and its checks name the function around them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define REQUIRE(condition) require(condition, #condition, __FUNCTION__, __LINE__)

static void require(bool holds, const char *what, const char *function, int line)
{
    if (holds) return;
    fprintf(stderr, "%s:%d: %s\n", function, line, what);
    exit(1);
}

__global__ void copy_straight(const float4 *from, float4 *to, size_t n)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void copy_by_tiles(const float4 *from, float4 *to, size_t n)
{
    __shared__ float4 tile[128];
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? from[i] : make_float4(0, 0, 0, 0);
    __syncthreads();
    if (i < n) to[i] = tile[threadIdx.x];
}

__global__ void copy_in_strides(const float4 *from, float4 *to, size_t n)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i];
}

static char *name_of(int variant)
{
    char *name = "straight";
    if (variant == 1) name = "by tiles";
    if (variant == 3) name = "in strides";
    return name;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        printf("Usage: %s <size, 0 to 3> <variant>\n", argv[0]);
        return -1;
    }
    const int sizes[4] = { 100, 250, 1000, 4000 };
    const size_t n = sizes[atoi(argv[1])];
    const int variant = atoi(argv[2]);
    float4 *from, *to;
    REQUIRE(cudaMallocManaged(&from, n * sizeof(float4)) == cudaSuccess);
    REQUIRE(cudaMallocManaged(&to, n * sizeof(float4)) == cudaSuccess);
    memset(from, 0, n * sizeof(float4));
    if (variant == 1) copy_by_tiles<<<(n + 127) / 128, 128>>>(from, to, n);
    else if (variant == 3) copy_in_strides<<<2, 128>>>(from, to, n);
    else copy_straight<<<(n + 127) / 128, 128>>>(from, to, n);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    printf("%s: %f\n", name_of(variant), to[n - 1].w);
    cudaFree(from);
    cudaFree(to);
    return 0;
}
