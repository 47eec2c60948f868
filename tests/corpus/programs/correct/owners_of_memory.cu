// Classes that own memory of the device, moved and not copied; a matrix with an operator for its elements.
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

template <typename T> class DeviceBuffer {
public:
    explicit DeviceBuffer(std::size_t n) : n_(n)
    {
        if (cudaMalloc(&p_, n * sizeof(T)) != cudaSuccess) throw std::runtime_error("no memory");
    }
    ~DeviceBuffer() { cudaFree(p_); }
    DeviceBuffer(const DeviceBuffer &) = delete;
    DeviceBuffer &operator=(const DeviceBuffer &) = delete;
    T *get() const { return p_; }
    std::size_t size() const { return n_; }
    void upload(const std::vector<T> &v) { cudaMemcpy(p_, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice); }
    std::vector<T> download() const
    {
        std::vector<T> v(n_);
        cudaMemcpy(v.data(), p_, n_ * sizeof(T), cudaMemcpyDeviceToHost);
        return v;
    }

private:
    T *p_ = nullptr;
    std::size_t n_;
};

struct Matrix {
    int rows, cols;
    float *elements;
    __host__ __device__ float &operator()(int r, int c) { return elements[r * cols + c]; }
    __host__ __device__ const float &operator()(int r, int c) const { return elements[r * cols + c]; }
};

__global__ void multiply(const Matrix a, const Matrix b, Matrix c)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= c.rows || col >= c.cols) return;
    float sum = 0;
    for (int k = 0; k < a.cols; ++k) sum += a(row, k) * b(k, col);
    c(row, col) = sum;
}

int main()
{
    const int n = 33;
    std::vector<float> h(n * n, 1.0f);
    DeviceBuffer<float> a(n * n), b(n * n), c(n * n);
    a.upload(h);
    b.upload(h);
    Matrix A{n, n, a.get()}, B{n, n, b.get()}, C{n, n, c.get()};
    dim3 block{16, 16};
    dim3 grid{(n + block.x - 1) / block.x, (n + block.y - 1) / block.y};
    multiply<<<grid, block>>>(A, B, C);
    auto out = c.download();
    printf("%f\n", out[0]);
    return 0;
}
