// One object for several lambdas, of which the arguments choose one, on the device and for variants of the host; a launcher
// for kernels with any parameters.
#include <cassert>
#include <utility>
#include <variant>
#include <vector>

template <class... F> struct Overloaded : F... {
    using F::operator()...;
};
template <class... F> Overloaded(F...) -> Overloaded<F...>;

template <typename T> __global__ void fill(T *x, int n, T value)
{
    Overloaded choose{
        [=](int i) { return i + n; }, [](const float2 &p) { return (int)(p.x * p.y); },
        [&value](auto other, char) { return (int)(other + value); }
    };
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(choose(i) == i + n && choose(make_float2(2.0f, 3.5f)) == 7 && choose(3.0, 'a') == 3 + (int)value);
    if (i < n) x[i] = value;
}

__global__ void count(int *x) { atomicAdd(x, 1); }

template <typename... A, typename... B> void launch(void (*kernel)(A...), dim3 grid, dim3 block, B &&...args)
{
    kernel<<<grid, block>>>(std::forward<B>(args)...);
}

struct Line {
    int n;
};
struct Plane {
    int w, h;
};

int main()
{
    std::vector<std::variant<Line, Plane>> jobs{Line{40}, Plane{8, 9}};
    for (const auto &job : jobs) {
        std::visit(
            Overloaded{
                [](const Line &l) {
                    float *x;
                    cudaMalloc(&x, l.n * sizeof(float));
                    launch(fill<float>, (l.n + 31) / 32, 32, x, l.n, 2.0f);
                    cudaFree(x);
                },
                [](const Plane &p) {
                    int *x;
                    cudaMalloc(&x, p.w * p.h * sizeof(int));
                    launch(&fill<int>, dim3((p.w * p.h + 31) / 32), dim3(32), x, p.w * p.h, 3);
                    launch(count, 1, 32, x);
                    cudaFree(x);
                }
            },
            job
        );
    }
    cudaDeviceSynchronize();
    return 0;
}
