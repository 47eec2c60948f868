// Options of the command line in strings, functors and lambdas as arguments, errors by a macro with file and line.
#include <cstdio>
#include <string>
__global__ void init(float *x, float v, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] = v;
}
template <typename Functor> __global__ void transform(Functor f, const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f(in[i]);
}
struct Scale {
    float s;
    explicit Scale(float a) : s(a) {}
    __device__ float operator()(float v) const { return s * v; }
};
static void handle(cudaError_t err, const char *file, int line)
{
    if (err != cudaSuccess) {
        printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
        exit(EXIT_FAILURE);
    }
}
#define HANDLE(err) (handle(err, __FILE__, __LINE__))

struct Options {
    int n = 128;
    std::string mode = "fast";
    bool verify{true};
};
Options parse(int argc, char **argv)
{
    Options o;
    for (int i = 1; i < argc; ++i) {
        std::string a = argv[i];
        if (a == "-n" && i + 1 < argc)
            o.n = std::stoi(argv[++i]);
        else if (a == "--no-verify")
            o.verify = false;
    }
    return o;
}
enum class Mode { Fast, Slow };

int main(int argc, char *argv[])
{
    Options o = parse(argc, argv);
    float *a, *b;
    HANDLE(cudaMalloc((void **)&a, o.n * sizeof(float)));
    HANDLE(cudaMalloc((void **)&b, o.n * sizeof(float)));
    init<<<4, 32>>>(a, 2.0f, o.n);
    transform<<<(o.n + 63) / 64, 64>>>(Scale(3.0f), a, b, o.n);
    Mode mode = o.mode == "fast" ? Mode::Fast : Mode::Slow;
    switch (mode) {
    case Mode::Fast: transform<<<2, 64>>>([] __device__(float v) { return v + 1; }, b, a, o.n); break;
    case Mode::Slow: break;
    }
    float *h = new float[o.n];
    HANDLE(cudaMemcpy(h, a, o.n * sizeof(float), cudaMemcpyDeviceToHost));
    bool ok = true;
    for (int i = 0; i < o.n; ++i) ok &= std::abs(h[i] - 7.0f) < 1e-6;
    if (!ok) init<<<1, 4096>>>(a, 0, o.n);
    printf("%s\n", ok ? "PASS" : "FAIL");
    delete[] h;
    return ok ? 0 : 1;
}
