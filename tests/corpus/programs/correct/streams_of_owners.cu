// Streams and arrays that objects own, functors of any number of arguments, errors with the place as `std::string_view`.
#include <algorithm>
#include <iostream>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

inline void report(cudaError_t code, std::string_view file, int line)
{
    if (code == cudaSuccess) return;
    std::cerr << cudaGetErrorString(code) << ' ' << file << ' ' << line << '\n';
    std::exit(code);
}
#define CHECK(call) { report((call), __FILE__, __LINE__); }

template <class T> struct DeviceDeleter {
    void operator()(T *p) const { cudaFree(p); }
};
template <class T> using device_ptr = std::unique_ptr<T[], DeviceDeleter<T>>;

template <class T> device_ptr<T> make_device(std::size_t n)
{
    T *p = nullptr;
    CHECK(cudaMalloc(reinterpret_cast<void **>(&p), n * sizeof(T)));
    return device_ptr<T>(p);
}

class Stream {
    cudaStream_t s_{};

public:
    Stream() { CHECK(cudaStreamCreate(&s_)); }
    ~Stream() { cudaStreamDestroy(s_); }
    Stream(const Stream &) = delete;
    operator cudaStream_t() const noexcept { return s_; }
};

template <typename Op, typename... Ts> __global__ void apply(Op op, std::size_t n, float *out, const Ts *...in)
{
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = op(in[i]...);
}
struct Fma {
    __device__ float operator()(float a, float b, float c) const { return fmaf(a, b, c); }
};
struct Neg {
    __device__ float operator()(float a) const { return -a; }
};

int main()
{
    constexpr std::size_t n = 1000;
    constexpr int streams = 4;
    std::vector<float> h(n), r(n);
    std::iota(begin(h), end(h), 0.f);
    auto a = make_device<float>(n), b = make_device<float>(n), o = make_device<float>(n);
    CHECK(cudaMemcpy(a.get(), h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    std::vector<std::unique_ptr<Stream>> pool;
    for (int i = 0; i < streams; ++i) pool.push_back(std::make_unique<Stream>());
    const std::size_t chunk = (n + streams - 1) / streams;
    for (int i = 0; i < streams; ++i) {
        const std::size_t first = i * chunk, count = std::min(chunk, n - first);
        const float *in = a.get() + first;
        apply<<<2, 64, 0, *pool[i]>>>(Neg{}, count, b.get() + first, in);
        apply<<<2, 64, 0, *pool[i]>>>(Fma{}, count, o.get() + first, in, in, (const float *)b.get() + first);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(r.data(), o.get(), n * sizeof(float), cudaMemcpyDeviceToHost));
    const bool right = std::equal(r.begin(), r.end(), h.begin(), [](float x, float y) { return x == y * y - y; });
    std::cout << std::boolalpha << right << std::endl;
    return right ? 0 : 1;
}
