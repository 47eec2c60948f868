// Host code with `std::function`, virtual functions and copies of containers, which decide what is launched.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

__global__ void axpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

struct Step {
    virtual void run(float *x, float *y, int n) = 0;
    virtual ~Step() {}
};
struct Scaled : Step {
    float a;
    Scaled(float k) : a(k) {}
    void run(float *x, float *y, int n) override { axpy<<<(n + 127) / 128, 128>>>(n, a, x, y); }
};
struct Twice : Scaled {
    Twice() : Scaled(2.0f) {}
    void run(float *x, float *y, int n) override
    {
        Scaled::run(x, y, n);
        Scaled::run(y, x, n);
    }
};

void timed(const std::string &name, std::function<void(float *, float *)> f, float *x, float *y)
{
    f(x, y);
    cudaDeviceSynchronize();
    printf("%s\n", name.c_str());
}

struct Sizes {
    std::vector<int> all;
};

int main()
{
    std::vector<int> sizes = {100, 300};
    std::vector<int> grown = sizes;
    grown[0] = 100000;
    grown.push_back(1);
    Sizes some{sizes}, others = some;
    others.all[1] = 1 << 30;
    std::function<int(int)> capacity = [sizes](int k) { return sizes[k]; };
    int n = some.all[0] + capacity(1);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    std::vector<std::unique_ptr<Step>> steps;
    steps.push_back(std::unique_ptr<Step>(new Scaled(0.5f)));
    steps.push_back(std::unique_ptr<Step>(new Twice()));
    for (auto &step : steps) step->run(x, y, n);
    timed("one", [=](float *a, float *b) { axpy<<<(n + 63) / 64, 64>>>(n, 1.0f, a, b); }, x, y);
    std::map<std::string, std::function<void()>> table;
    table["a"] = [&]() { axpy<<<1, 512>>>(sizes[0], 0.5f, x, y); };
    table["b"] = [&]() { axpy<<<1, 512>>>(sizes[1], 0.5f, x, y); };
    for (auto &entry : table) entry.second();
    cudaFree(x);
    cudaFree(y);
    return 0;
}
