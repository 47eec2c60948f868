// A block size from a map of names, buffers that free themselves, a timer that owns its events.
#include <cuda_runtime.h>
#include <iostream>
#include <memory>
#include <chrono>
#include <algorithm>
#include <string>
#include <map>
#include <vector>
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { std::cerr << cudaGetErrorString(e_) << " at " << __FILE__ << ":" << __LINE__ << std::endl; std::exit(1); } } while (0)
struct Free { void operator()(void *p) const { cudaFree(p); } };
template <class T> using dev_ptr = std::unique_ptr<T[], Free>;
template <class T> dev_ptr<T> make(size_t n) { T *p = nullptr; CHECK(cudaMalloc(&p, n * sizeof(T))); return dev_ptr<T>(p); }
__global__ void axpy(float a, const float *x, float *y, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) y[i] = a * x[i] + y[i]; }
class Timer { cudaEvent_t a, b; public: Timer() { cudaEventCreate(&a); cudaEventCreate(&b); } ~Timer() { cudaEventDestroy(a); cudaEventDestroy(b); } void start() { cudaEventRecord(a); } float stop() { cudaEventRecord(b); cudaEventSynchronize(b); float ms; cudaEventElapsedTime(&ms, a, b); return ms; } };
int main(int argc, char *argv[]) {
  size_t n = argc > 1 ? std::stoul(argv[1]) : 10007;
  std::string mode = argc > 2 ? argv[2] : "fast";
  std::map<std::string, int> blocks{{"fast", 256}, {"slow", 64}};
  std::vector<float> hx(n), hy(n, 2.0f);
  std::generate(hx.begin(), hx.end(), [k = 0]() mutable { return float(k++ % 17); });
  auto x = make<float>(n); auto y = make<float>(n);
  CHECK(cudaMemcpy(x.get(), hx.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(y.get(), hy.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  const int block = blocks.at(mode);
  const int grid = std::min<int>((n + block - 1) / block, 1024);
  Timer t; t.start();
  for (int rep = 0; rep < 3; ++rep) axpy<<<grid, block>>>(2.5f, x.get(), y.get(), n);
  std::cout << t.stop() << " ms\n";
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(hy.data(), y.get(), n * sizeof(float), cudaMemcpyDeviceToHost));
  double err = 0; for (size_t i = 0; i < n; ++i) err = std::max(err, (double)std::abs(hy[i] - (2.0f + 3 * 2.5f * hx[i])));
  std::cout << "max error " << err << (err < 1e-3 ? " ok" : " BAD") << '\n';
  return err < 1e-3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
