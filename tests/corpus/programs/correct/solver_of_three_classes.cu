// Classes that own buffers and a stream, views for kernels, instances by a macro and from a table.
#include <cstdio>
#include <new>
#include <string>
#include <vector>

template <typename T> class Buffer {
    T *p = nullptr;
    size_t n = 0;

public:
    explicit Buffer(size_t n) : n(n)
    {
        if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer()
    {
        if (p) cudaFree(p);
    }
    T *data() { return p; }
    void upload(const std::vector<T> &h) { cudaMemcpy(p, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice); }
    std::vector<T> download() const
    {
        std::vector<T> h(n);
        cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
        return h;
    }
};

template <typename T> struct View {
    T *p;
    int rows, columns;
    __host__ __device__ T &operator()(int r, int c) const { return p[r * columns + c]; }
};

__global__ void add(View<const float> a, View<const float> b, View<float> c)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < c.rows && column < c.columns) c(row, column) = a(row, column) + b(row, column);
}

template <int K> __global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= K;
}

class Solver {
    Buffer<float> a, b, c;
    int n;
    cudaStream_t stream;

public:
    explicit Solver(int n) : a(n * n), b(n * n), c(n * n), n(n)
    {
        cudaStreamCreate(&stream);
        std::vector<float> h(n * n, 1.0f);
        a.upload(h);
        for (auto &x : h) x = 2.0f;
        b.upload(h);
    }
    void step()
    {
        dim3 block(16, 16), grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
        View<const float> left{a.data(), n, n}, right{b.data(), n, n};
        add<<<grid, block, 0, stream>>>(left, right, View<float>{c.data(), n, n});
    }
    float result()
    {
        cudaStreamSynchronize(stream);
        return c.download()[0];
    }
};

#define WITH_CONSTANT(value, ...)                                                                  \
    switch (value) {                                                                               \
    case 1: { constexpr int K = 1; __VA_ARGS__; break; }                                           \
    case 2: { constexpr int K = 2; __VA_ARGS__; break; }                                           \
    default: break;                                                                                \
    }

using Kernel = void (*)(float *, int);
struct Entry {
    const char *name;
    Kernel kernel;
};
static const Entry table[] = {{"one", scale<1>}, {"two", scale<2>}};

int main()
{
    Solver solver(50);
    for (int i = 0; i < 3; ++i) solver.step();
    printf("%g\n", solver.result());
    Buffer<float> x(100);
    cudaMemset(x.data(), 0, 100 * sizeof(float));
    std::string what = "scale";
    if (what == "scale") WITH_CONSTANT(2, scale<K><<<2, 64>>>(x.data(), 100))
    for (const auto &entry : table) {
        printf("%s\n", entry.name);
        entry.kernel<<<2, 64>>>(x.data(), 100);
    }
    cudaDeviceSynchronize();
    return 0;
}
